import { Button } from "#web/kit/button.tsx";
import type { ConsoleHealth, ConsoleQueue } from "#src/contract/console.ts";
import type { ConsoleFailedMark } from "#src/contract/console-review.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { Alarms } from "#web/console/parts/alarms.tsx";
import { HealthParts, partName } from "#web/console/parts/health-parts.tsx";
import { Status } from "#web/console/parts/status.tsx";
import { figures } from "#web/console/site.ts";
import { say, sayWith } from "#web/console/words.ts";
import { number } from "#web/kit/numbers.ts";
import { Table } from "#web/kit/table.tsx";
import { Ago } from "#web/kit/time.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded, type Resource } from "#web/kit/resource.tsx";

/** The state of the service, and everything that needs an operator. */
export const OverviewPage = ({ health }: { health: Resource<ConsoleHealth> }) => (
  <section>
    <h1>{say("Overview")}</h1>
    <Loaded of={health}>
      {(now) => (
        <>
          <Readiness now={now} />
          <Alarms />
          {now.marks !== null && <Figures marks={figures.value ?? now.marks} />}
          {now.marks !== null && now.marks.failed > 0 && <FailedMarks />}
          <h2>{say("Queues")}</h2>
          {now.queues === null ? (
            <p class="fault">
              {say("Redis does not answer: the queues cannot be read. No mark is lost.")}
            </p>
          ) : (
            <div class="card">
              <Queues queues={now.queues} />
            </div>
          )}
          <h2>{say("Parts")}</h2>
          <HealthParts checks={now.checks} degradedIs={now.ready ? "warn" : "bad"} />
          <BasemapWord basemap={now.basemap} />
        </>
      )}
    </Loaded>
  </section>
);

/** Says what the base map lacks, and how to mend it. */
function BasemapWord({ basemap }: { basemap: ConsoleHealth["basemap"] }) {
  if (basemap === "own") return null;
  return (
    <>
      <h2>{say("Map")}</h2>
      <div class="card">
        {basemap === "bundled" ? (
          <p>{say("The map shows water, borders and names, without streets.")}</p>
        ) : (
          <p class="fault">
            {say("The file that BASEMAP names cannot be read: the map has no background.")}
          </p>
        )}
        <p>
          {sayWith(
            "For streets set {setting} to openfreemap, to the address of a MapLibre style or to a .pmtiles file of the country, and restart the web processes. docs/operations.md has the commands.",
            { setting: <code>BASEMAP</code> },
          )}
        </p>
      </div>
    </>
  );
}

function Readiness({ now: { ready, degraded } }: { now: ConsoleHealth }) {
  const parts = degraded.map(partName).join(", ");
  if (!ready) return <p class="banner bad">{say("Not ready: {parts}", { parts })}</p>;
  if (degraded.length > 0)
    return <p class="banner warn">{say("Serving, but degraded: {parts}", { parts })}</p>;
  return (
    <p class="banner good">
      <span aria-hidden="true">✓</span> {say("All parts of this process work.")}
    </p>
  );
}

const Figures = ({ marks }: { marks: NonNullable<ConsoleHealth["marks"]> }) => (
  <ul class="figures">
    <Figure
      n={marks.pending_requests}
      text={say("limit requests pending")}
      to="#/limit-requests"
      urgent
    />
    <Figure n={marks.held} text={say("marks held for review")} to="#/review" urgent />
    <Figure
      n={marks.suggestions}
      text={say("suggestions about stations")}
      to="#/suggestions"
      urgent
    />
    <Figure n={marks.failed} text={say("marks failed")} urgent />
    <Figure
      n={marks.unprocessed}
      text={
        marks.oldest_s === null
          ? say("marks waiting for a worker")
          : say("marks waiting, the oldest for {s} s", { s: String(marks.oldest_s) })
      }
    />
    <Figure n={marks.refolds} text={say("stations to calculate again")} />
    <Figure n={marks.last_hour} text={say("marks in the last hour")} />
    <Figure n={marks.stations} text={say("stations in service")} to="#/stations" />
  </ul>
);

function Figure({
  n,
  text,
  to,
  urgent = false,
}: {
  n: number;
  text: string;
  to?: string;
  urgent?: boolean;
}) {
  const inside = (
    <>
      <strong>{number(n)}</strong> <span>{text}</span>
    </>
  );
  return (
    <li class={urgent && n > 0 ? "card urgent" : "card"}>
      {to === undefined ? inside : <a href={to}>{inside}</a>}
    </li>
  );
}

const Queues = ({ queues }: { queues: readonly ConsoleQueue[] }) => (
  <Table
    caption={say("Queues")}
    rows={queues}
    id={({ queue }) => queue}
    empty={say("No queues")}
    columns={[
      { name: say("Queue"), cell: ({ queue }) => <span lang="en">{queue}</span> },
      { name: say("Waiting"), cell: ({ depth }) => number(depth), numeric: true },
      {
        name: say("Oldest"),
        cell: ({ oldest_age_s: s }) => (s === null ? "–" : say("{s} s", { s: String(s) })),
        numeric: true,
      },
      { name: say("Active"), cell: ({ active }) => active, numeric: true },
      { name: say("Failed"), cell: ({ failed }) => failed, numeric: true },
    ]}
  />
);

/** Marks that could not be processed, and another try for each. */
function FailedMarks() {
  const loading = useLoaded<{ marks: ConsoleFailedMark[] }>("/failed-marks");
  const doing = useDoing();
  const retry = async (id: number): Promise<void> => {
    const words = say("Mark {id} is being processed again", { id });
    await doing.run(words, "POST", `/failed-marks/${id}/retry`);
    await loading.load();
  };
  return (
    <>
      <h2>{say("Failed marks")}</h2>
      <Fault words={doing.fault} />
      <Loaded of={loading}>
        {({ marks }) => (
          <Table
            caption={say("Failed marks")}
            rows={marks}
            id={({ id }) => id}
            empty={say("No failed marks.")}
            columns={[
              { name: say("Mark"), cell: ({ id }) => id },
              {
                name: say("Station"),
                cell: ({ station_id: at }) => <a href={`#/stations/${at}`}>{at}</a>,
              },
              { name: say("Status"), cell: ({ status }) => <Status status={status} /> },
              { name: say("Failed"), of: "failed", cell: (failed) => <Ago at={failed} /> },
              { name: say("Why"), cell: ({ failure }) => <code>{failure}</code> },
              {
                name: "",
                cell: ({ id }) =>
                  mayChange() && (
                    <Button disabled={doing.busy} onClick={() => retry(id)}>
                      {say("Try again")}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
