import { useEffect, useMemo, useRef } from "preact/hooks";
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
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current } = dialog;
    current?.showModal();
    void loading.load();
    const timer = setInterval(() => void loading.load(true), refreshMs);
    return () => {
      clearInterval(timer);
      current?.close();
    };
  }, [loading]);
  const again = async (id: number): Promise<void> => {
    await api.send("POST", `${path}/${id}/redeliver`, {});
    await loading.load();
  };
  return (
    <dialog
      ref={dialog}
      class="dialog wide"
      aria-labelledby="deliveries-title"
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <h2 id="deliveries-title">{say("Deliveries of webhook {id}", { id: String(webhook) })}</h2>
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
              {
                name: say("ms"),
                cell: ({ duration_ms: ms }) => ms ?? "",
                by: ({ duration_ms: ms }) => ms ?? 0,
                numeric: true,
              },
              {
                name: say("Action"),
                cell: ({ id, delivered }) => (
                  <button type="button" onClick={() => void again(id)}>
                    {delivered === null ? say("Try now") : say("Send again")}
                    <span class="unseen"> {say("delivery {id}", { id: String(id) })}</span>
                  </button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <div class="buttons">
        <button type="button" class="primary" onClick={close}>
          {say("Close")}
        </button>
      </div>
    </dialog>
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
