import { Dialog } from "#web/kit/dialog.tsx";
import { Button } from "#web/kit/button.tsx";
import { useEffect, useMemo } from "preact/hooks";
import type { ShownDelivery } from "#src/contract/dashboard.ts";
import { api } from "#web/dashboard/state.ts";
import { Loaded, resource } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { say } from "#web/dashboard/words.ts";

const refreshMs = 2000;
/** A longer answer is folded. */
const shortMax = 120;

/** The deliveries of a webhook and its answers, kept fresh as long as somebody looks; Escape closes the list. */
export function Deliveries({ webhook, close }: { webhook: number; close: () => void }) {
  const path = `/webhooks/${webhook}/deliveries`;
  const loading = useMemo(
    () => resource<{ deliveries: ShownDelivery[] }>(() => api.get(path)),
    [path],
  );
  useEffect(() => {
    void loading.load();
    const timer = setInterval(() => void loading.load(true), refreshMs);
    return () => clearInterval(timer);
  }, [loading]);
  const again = async (id: number): Promise<void> => {
    await api.send("POST", `${path}/${id}/redeliver`, {});
    await loading.load();
  };
  return (
    <Dialog title="deliveries-title" wide close={close}>
      <h2 id="deliveries-title">{say("Deliveries of webhook {id}", { id: webhook })}</h2>
      <p class="soft small">
        {say(
          "Contents name what a delivery is about: stations and outcomes are sent as they are at the moment of sending.",
        )}
      </p>
      <Loaded of={loading}>
        {({ deliveries }) => (
          <Table
            caption={say("Deliveries")}
            rows={deliveries}
            id={({ id }) => id}
            empty={say("Nothing was sent yet.")}
            perPage={8}
            columns={[
              {
                name: say("Event"),
                cell: ({ type, contents }) => (
                  <>
                    <code class="whole">{type}</code>
                    <details>
                      <summary>{say("Contents")}</summary>
                      <pre>{contents}</pre>
                    </details>
                  </>
                ),
                by: ({ type }) => type,
              },
              {
                name: say("Created"),
                cell: ({ created }) => <Moment at={created} />,
                by: ({ id }) => id,
              },
              { name: say("Answer"), cell: answerOf },
              { name: say("ms"), of: "duration_ms", cell: (ms) => ms ?? "", numeric: true },
              {
                name: say("Action"),
                cell: ({ id, delivered }) => (
                  <Button of={say("delivery {id}", { id })} onClick={() => again(id)}>
                    {delivered === null ? say("Try now") : say("Send again")}
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <div class="buttons">
        <Button words={say("Close")} class="primary" onClick={close} />
      </div>
    </Dialog>
  );
}

function answerOf({ delivered, attempts, status, answer, fault }: ShownDelivery) {
  const words = fault ?? answer ?? "";
  const tried = say("{n} {n|attempt|attempts}", { n: attempts });
  return (
    <span>
      {delivered === null ? (
        <span class={`badge ${attempts > 0 ? "rejected" : "pending"}`}>
          {attempts > 0 ? say("✕ failed, waiting") : say("… waiting")}
        </span>
      ) : (
        <span class="badge approved">{say("✓ taken")}</span>
      )}{" "}
      {status ?? ""} <span class="soft small">{tried}</span>
      {words.length > shortMax ? (
        <details>
          <summary>{say("Answer")}</summary>
          <pre>{words}</pre>
        </details>
      ) : (
        words !== "" && <div class="soft small any">{words}</div>
      )}
    </span>
  );
}
