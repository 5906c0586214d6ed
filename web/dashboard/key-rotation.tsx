import { Once } from "#web/dashboard/once.tsx";
import { Form } from "#web/kit/form.tsx";
import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import { dayMs } from "#src/domain/units.ts";
import type { RotatedKey } from "#src/contract/dashboard.ts";
import { keys, useDoing } from "#web/dashboard/state.ts";
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
        <Button onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
          {say("Replace the key of this session")}
        </Button>
      </p>
      {isOpen && (
        <Replacing
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

function Replacing({ prefix, done }: { prefix: string; done: (made: RotatedKey) => void }) {
  const [days, setDays] = useState(String(daysUsual));
  const doing = useDoing();
  const send = async (): Promise<void> => {
    const body = { days: Number(days) };
    const made = await doing.run<RotatedKey>("", "POST", "/keys/rotate", body);
    // First: the list says that the key has an end, and this form goes.
    if (made !== null) done(made);
    await keys.load();
  };
  return (
    <Form
      class="ask"
      send={send}
      doing={doing}
      action={doing.busy ? say("Working …") : say("Make the new key")}
    >
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
    </Form>
  );
}

const NewKey = ({ made, close }: { made: RotatedKey; close: () => void }) => (
  <Once
    words={say("The new secret key. It is shown this once: copy it now.")}
    text={made.key}
    done={say("I have copied it")}
    close={close}
  >
    <p>
      {sayWith(
        "The key of this session ends {day}, and this session with it. Sign in with the new key next time.",
        { day: <Moment at={made.old_ends} /> },
      )}
    </p>
  </Once>
);
