import { useState } from "preact/hooks";
import { dayMs } from "#src/domain/units.ts";
import type { RotatedKey } from "#src/contract/dashboard.ts";
import { api, keys } from "#web/dashboard/state.ts";
import { CopyButton } from "#web/kit/copy-button.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Moment } from "#web/kit/time.tsx";
import { say, sayWith } from "#web/dashboard/words.ts";
import { DaysField } from "#web/dashboard/days-field.tsx";

const [daysMin, daysMax, daysUsual] = [1, 30, 7];

/** Replaces the key of this session by a new one, which is shown once (decisions 8.36). */
export function KeyRotation() {
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<RotatedKey | null>(null);
  if (made !== null) return <NewKey made={made} close={() => setMade(null)} />;
  const current = keys.value.value?.keys.find((key) => key.current);
  if (current === undefined) return null;
  if (current.expires !== null)
    return (
      <p class="soft small">
        {sayWith("The key of this session ends {day}. Ask the operator if you need another one.", {
          day: <Moment at={current.expires} />,
        })}
      </p>
    );
  const allowedAt = current.created + dayMs;
  if (allowedAt > Date.now())
    return (
      <p class="soft small">
        {sayWith("The key of this session can be replaced from {day} on, when it is a day old.", {
          day: <Moment at={allowedAt} />,
        })}
      </p>
    );
  return (
    <>
      <p>
        <button type="button" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
          {say("Replace the key of this session")}
        </button>
      </p>
      {isOpen && (
        <Form
          prefix={current.prefix}
          done={(rotated) => {
            setOpen(false);
            setMade(rotated);
          }}
        />
      )}
    </>
  );
}

function Form({ prefix, done }: { prefix: string; done: (made: RotatedKey) => void }) {
  const [days, setDays] = useState(String(daysUsual));
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const submit = async (submitted: Event): Promise<void> => {
    submitted.preventDefault();
    setBusy(true);
    const result = await api.send<RotatedKey>("POST", "/keys/rotate", { days: Number(days) });
    setBusy(false);
    setFault(result.failure?.words ?? null);
    // First: the list says that the key has an end, and this form goes.
    if (result.failure === undefined) done(result.value);
    await keys.load();
  };
  return (
    <form class="ask" onSubmit={(submitted) => void submit(submitted)}>
      <p>
        {sayWith(
          "You get a new secret key with the same settings. The present key {key} works on until its end, which you cannot move: change your servers in this time.",
          { key: <code>{prefix}…</code> },
        )}
      </p>
      <DaysField
        id="overlap-days"
        label={say("Days until the present key ends")}
        between={[daysMin, daysMax]}
        value={days}
        set={setDays}
      />
      <Fault words={fault} />
      <div>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? say("Working …") : say("Make the new key")}
        </button>
      </div>
    </form>
  );
}

const NewKey = ({ made, close }: { made: RotatedKey; close: () => void }) => (
  <div class="note" role="status">
    <p>{say("The new secret key. It is shown this once: copy it now.")}</p>
    <p>
      <code class="said">{made.key}</code> <CopyButton text={made.key} />
    </p>
    <p>
      {sayWith(
        "The key of this session ends {day}, and this session with it. Sign in with the new key next time.",
        { day: <Moment at={made.old_ends} /> },
      )}
    </p>
    <button type="button" onClick={close}>
      {say("I have copied it")}
    </button>
  </div>
);
