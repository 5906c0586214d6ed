import type { ShownRequest, ShownRequests } from "#src/contract/dashboard.ts";
import { Call, milliseconds, Problem } from "#web/dashboard/cells.tsx";
import { KeyKind } from "#web/dashboard/key-kind.tsx";
import { Section } from "#web/dashboard/section.tsx";
import { onlyErrors, recent } from "#web/dashboard/state.ts";
import { number } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";

/** The last requests one by one, with what the operator needs to find them (docs/decisions.md 12.11). */
export const Recent = () => (
  <Section
    id="last-requests"
    title="Last requests"
    tools={
      <div class="tools">
        <KeyKind label="Kind of key of the last requests" />
        <div class="choice" role="group" aria-label="Which of the last requests">
          <button
            type="button"
            aria-pressed={!onlyErrors.value}
            onClick={() => (onlyErrors.value = false)}
          >
            All
          </button>
          <button
            type="button"
            aria-pressed={onlyErrors.value}
            onClick={() => (onlyErrors.value = true)}
          >
            Errors only
          </button>
        </div>
      </div>
    }
  >
    <Loaded of={recent}>{(value) => <List shown={value} />}</Loaded>
  </Section>
);

const List = ({ shown: { requests, kept } }: { shown: ShownRequests }) => (
  <>
    <p class="soft small">
      The last {number(kept)}, kept for 48 hours. Quote the request id to the operator when you ask
      about a request.
    </p>
    <Table
      caption="Last requests"
      rows={requests}
      id={({ request_id: id }) => id}
      empty={onlyErrors.value ? "No errors in the last 48 hours." : "No requests in 48 hours."}
      perPage={10}
      columns={[
        { name: "Time", cell: ({ at }) => <Moment at={at} seconds />, by: ({ at }) => at },
        {
          name: "Call",
          cell: ({ call }) => <Call method={call} />,
          by: ({ call }) => call,
        },
        { name: "Answer", cell: answerOf, by: ({ status, code }) => `${status} ${code ?? ""}` },
        {
          name: "ms",
          cell: ({ ms }) => milliseconds(ms),
          by: ({ ms }) => ms,
          numeric: true,
        },
        { name: "Key", cell: ({ key }) => <code class="whole">{key}…</code>, by: ({ key }) => key },
        {
          name: "Request id",
          cell: ({ request_id: id }) => <code class="any pick">{id}</code>,
        },
      ]}
    />
  </>
);

const answerOf = ({ status, code }: ShownRequest) => (
  <span>
    {status}
    {code !== null && (
      <>
        {" "}
        <Problem code={code} />
      </>
    )}
  </span>
);
