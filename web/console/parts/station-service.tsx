import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ConsoleStationPage } from "#src/contract/console.ts";
import { mayChange } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { say } from "#web/console/words.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { Fault } from "#web/kit/fault.tsx";

/** Takes a station out of service, or puts it back, after a question. */
export function ServiceButtons({
  station: { id, removed },
  changed,
}: {
  station: Pick<ConsoleStationPage["station"], "id" | "removed">;
  changed: () => Promise<void>;
}) {
  const [asking, setAsking] = useState(false);
  const [comment, setComment] = useState("");
  const doing = useDoing();
  if (!mayChange()) return null;
  const path = `/stations/${encodeURIComponent(id)}`;
  const send = async (): Promise<void> => {
    const done = removed
      ? await doing.run(say("The station is in service again"), "POST", `${path}/reopen`)
      : await doing.run(say("The station is closed"), "POST", `${path}/close`, { comment });
    if (done === null) return;
    setAsking(false);
    setComment("");
    await changed();
  };
  const cancel = (): void => {
    setAsking(false);
    doing.forget();
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>
        {removed ? say("Reopen it …") : say("Close it …")}
      </Button>
      {asking && (
        <Confirm
          title={removed ? say("Reopen {id}?", { id }) : say("Close {id}?", { id })}
          action={removed ? say("Reopen it") : say("Close it")}
          danger={!removed}
          busy={doing.busy}
          onConfirm={() => void send()}
          onCancel={cancel}
        >
          <p>
            {removed
              ? say("The map and partners show it again at once.")
              : say(
                  "It leaves the map and partners’ copies at once, takes no marks, and stays closed when an import still has it.",
                )}
          </p>
          {!removed && (
            <TextField
              label={say("Why (for the log)")}
              value={comment}
              onChange={setComment}
              maxLength={500}
            />
          )}
          <Fault words={doing.fault} />
        </Confirm>
      )}
    </>
  );
}
