import type { CallErrors } from "#src/contract/dashboard.ts";
import { Call, Problem } from "#web/dashboard/cells.tsx";
import { dayWords } from "#web/dashboard/days.ts";
import { Section } from "#web/dashboard/section.tsx";
import { audience, errors, period } from "#web/dashboard/state.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { counted, Table } from "#web/kit/table.tsx";
import { say } from "#web/dashboard/words.ts";

/** Counts of each problem by call (decisions 12.10). */
export const Errors = () => (
  <Section
    id="errors"
    title={say("Errors")}
    tools={
      <div class="tools">
        <a class="button" href={`api/errors.csv?days=${period.value}`} download>
          {say("Download errors")}
        </a>
      </div>
    }
  >
    <Loaded of={errors}>{(value) => <ByCall found={value} />}</Loaded>
  </Section>
);

function ByCall({ found }: { found: CallErrors }) {
  const own = found[audience.value].filter(({ total }) => total > 0);
  return (
    <>
      <p class="soft small">
        {say(
          "By problem code and call, in the last {n} days (UTC). Requests that a limit or the key itself refused are not counted as requests; a wrong or expired key is not shown here.",
          { n: found.days },
        )}
      </p>
      <Table
        caption={say("Errors by code and call")}
        rows={own}
        id={({ method, code }) => `${method} ${code}`}
        empty={say("No errors in the last {n} days.", { n: found.days })}
        perPage={10}
        columns={[
          { name: say("Problem"), cell: Problem, by: ({ code }) => code },
          {
            name: say("Call"),
            cell: Call,
            by: ({ method }) => method,
          },
          counted(say("Today"), "today"),
          counted(say("{n} days", { n: found.days }), "total"),
          counted(say("Not counted"), "refused"),
          {
            name: say("Last day"),
            of: "last",
            cell: (last) => <span class="whole">{dayWords(last)}</span>,
          },
        ]}
      />
    </>
  );
}
