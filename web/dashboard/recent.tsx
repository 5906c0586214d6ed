import { Button } from "#web/kit/button.tsx";
import type { ShownRequest, ShownRequests } from "#src/contract/dashboard.ts";
import { Call, milliseconds, Problem } from "#web/dashboard/cells.tsx";
import { Section } from "#web/dashboard/section.tsx";
import { onlyErrors, recent } from "#web/dashboard/state.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { say } from "#web/dashboard/words.ts";

/** The last requests one by one, with the ids by which the operator finds them (decisions 12.11). */
export const Recent = () => (
  <Section
    id="last-requests"
    title={say("Last requests")}
    tools={
      <div class="tools">
        <div class="choice" role="group" aria-label={say("Which of the last requests")}>
          <Button aria-pressed={!onlyErrors.value} onClick={() => (onlyErrors.value = false)}>
            {say("All")}
          </Button>
          <Button aria-pressed={onlyErrors.value} onClick={() => (onlyErrors.value = true)}>
            {say("Errors only")}
          </Button>
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
      {say(
        "The last {n}, kept for 48 hours. Quote the request id to the operator when you ask about a request.",
        { n: kept },
      )}
    </p>
    <Table
      caption={say("Last requests")}
      rows={requests}
      id={({ request_id: id }) => id}
      empty={
        onlyErrors.value ? say("No errors in the last 48 hours.") : say("No requests in 48 hours.")
      }
      perPage={10}
      columns={[
        { name: say("Time"), of: "at", cell: (at) => <Moment at={at} seconds /> },
        { name: say("Call"), of: "call", cell: (call) => <Call method={call} /> },
        {
          name: say("Answer"),
          cell: answerOf,
          by: ({ status, code }) => `${status} ${code ?? ""}`,
        },
        { name: say("ms"), of: "ms", cell: (ms) => milliseconds(ms), numeric: true },
        { name: say("Key"), of: "key", cell: (key) => <code class="whole">{key}…</code> },
        {
          name: say("Request id"),
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
