import { useState } from "preact/hooks";
import type { ConsoleMark, ConsoleStationPage } from "#src/contract/console.ts";
import type { Step } from "#src/domain/explain.ts";
import { minuteMs } from "#src/domain/units.ts";
import { api, useLoaded } from "#web/console/api.ts";
import { metres } from "#web/console/parts/mini-map.tsx";
import { StationFacts } from "#web/console/parts/station-facts.tsx";
import { StationPlace } from "#web/console/parts/station-place.tsx";
import { Status } from "#web/console/parts/status.tsx";
import { outcomeWords, ruleWords, stepWords } from "#web/console/reasons.ts";
import { Table } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";

const everyMs = 10_000;
const stepsAtFirst = 12;

/** One station: what it shows, what it is, where, why, and every mark that was made on it. */
export function StationPage({ id }: { id: string }) {
  const loading = useLoaded<ConsoleStationPage>(`/stations/${encodeURIComponent(id)}`, everyMs);
  return (
    <section>
      <p class="trail">
        <a href="#/stations">Stations</a>
      </p>
      <Loaded of={loading}>
        {(page) => (
          <>
            <h1>{page.station.name || page.station.brand || page.station.id}</h1>
            <p class="soft">
              <code>{page.station.id}</code>
              {page.station.brand !== "" && ` · ${page.station.brand}`}
              {page.station.addr !== "" && ` · ${page.station.addr}`}
              {` · ${page.station.lat.toFixed(5)}, ${page.station.lon.toFixed(5)} · from ${page.station.source}`}
              {page.station.removed && (
                <span class="tag bad">
                  {page.by_hand.in_service === false ? "closed by hand" : "out of service"}
                </span>
              )}
              {page.by_hand.in_service === true && <span class="tag">kept in service by hand</span>}
            </p>
            <Fuel page={page} />
            <StationFacts page={page} changed={loading.load} />
            <StationPlace station={page.station} />
            <Why steps={page.steps} before={page.steps_before} cut={page.history_cut} />
            <Marks id={id} first={page.marks} next={page.next} />
          </>
        )}
      </Loaded>
    </section>
  );
}

/** The fuel block as partners get it (docs/contract.md 2.2). */
function Fuel({ page: { fuel, station } }: { page: ConsoleStationPage }) {
  const facts: [name: string, value: string][] = [
    ["has", fuel.fuels_now],
    ["out of", fuel.fuels_no],
    ["prices", fuel.prices ?? ""],
    ["queue", fuel.queue],
    ["limit", fuel.limit_l === null ? "" : `${fuel.limit_l} l`],
    ["cash", fuel.no_cash ? "not taken" : ""],
    ["fuel cards", fuel.fuel_cards_only ? "only" : ""],
    ["confirmations", fuel.seeded ? "imported" : String(fuel.confirmations)],
    ["live devices", String(fuel.real_count)],
    ["pending", fuel.pending_status === "" ? "" : `${fuel.pending_status}: ${fuel.pending_count}`],
    ["reason", fuel.resolution_reason],
    ["updated (UTC)", fuel.updated],
  ];
  return (
    <div class="card">
      <div class="title">
        <h2>
          Shown now: <Status status={fuel.status} />
        </h2>
        <a href={`#/rollback?station=${station.id}`}>Withdraw marks …</a>
      </div>
      <dl class="pairs">
        {facts
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {fuel.conflict !== null && (
        <p class="banner warn">
          Drivers disagree:{" "}
          {fuel.conflict.versions
            .map(({ status, count, updated }) => `${status} by ${count} (${updated} UTC)`)
            .join(" against ")}
        </p>
      )}
    </div>
  );
}

/** The fold step by step, the newest first. */
function Why({ steps, before, cut }: { steps: readonly Step[]; before: number; cut: boolean }) {
  const [all, setAll] = useState(false);
  const newest = steps.toReversed();
  const shown = all ? newest : newest.slice(0, stepsAtFirst);
  return (
    <div class="card">
      <h2>Why</h2>
      {steps.length === 0 && (
        <p class="empty">There is no counted mark or import for this station.</p>
      )}
      <ol class="steps">
        {shown.map((step, n) => (
          <li key={steps.length - n} class={step.kind}>
            <Moment at={step.at} />
            <p>{stepWords(step)}</p>
            <p class="soft">
              then: <Status status={step.shown.status} />
              {step.shown.seeded && " (imported)"}
              {step.shown.confirmations > 0 &&
                ` by ${step.shown.confirmations}, ${step.shown.realCount} live`}
              {step.shown.pendingStatus !== "" && (
                <>
                  {" · pending "}
                  <Status status={step.shown.pendingStatus} /> {step.shown.pendingCount}
                </>
              )}
              {step.shown.reason === "conflict" && " · dispute"}
            </p>
          </li>
        ))}
      </ol>
      {!all && newest.length > shown.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show {newest.length - shown.length} earlier steps
        </button>
      )}
      {all && before > 0 && <p class="soft">{before} earlier steps are not shown.</p>}
      {cut && (
        <p class="soft">
          This station has many marks. The steps are worked out from the newest ones only; the
          status above is the one that is served.
        </p>
      )}
    </div>
  );
}

function Marks({
  id,
  first,
  next,
}: {
  id: string;
  first: readonly ConsoleMark[];
  next: number | null;
}) {
  const [older, setOlder] = useState<{ marks: ConsoleMark[]; next: number | null } | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const before = older === null ? next : older.next;
  const more = async (): Promise<void> => {
    const answer = await api.get<ConsoleStationPage>(
      `/stations/${encodeURIComponent(id)}?before=${before}`,
    );
    setFault(answer.failure?.words ?? null);
    if (answer.failure === undefined)
      setOlder({
        marks: [...(older?.marks ?? []), ...answer.value.marks],
        next: answer.value.next,
      });
  };
  const seen = new Map([...first, ...(older?.marks ?? [])].map((mark) => [mark.id, mark]));
  return (
    <div class="card">
      <h2>Marks</h2>
      <Table
        caption="Marks of this station"
        rows={[...seen.values()]}
        id={(mark) => mark.id}
        empty="No marks for this station yet."
        columns={columns}
      />
      <Fault words={fault} />
      {before !== null && (
        <button type="button" onClick={() => void more()}>
          Load older marks
        </button>
      )}
    </div>
  );
}

const columns = [
  {
    name: "Made at",
    by: ({ effective }: ConsoleMark) => effective,
    cell: ({ effective, received }: ConsoleMark) => (
      <>
        <Moment at={effective} />
        {received - effective > minuteMs && (
          <div class="soft">
            received <Moment at={received} />
          </div>
        )}
      </>
    ),
  },
  {
    name: "Status",
    by: ({ status }: ConsoleMark) => status,
    cell: ({ status, express, comment }: ConsoleMark) => (
      <>
        <Status status={status} />
        {express && <span class="tag">express</span>}
        {comment !== null && <div class="said-by">{comment}</div>}
      </>
    ),
  },
  {
    name: "Outcome",
    by: outcomeWords,
    cell: (mark: ConsoleMark) => <span class={`tag ${tone(mark)}`}>{outcomeWords(mark)}</span>,
  },
  {
    name: "Needs",
    cell: ({ needed, rule, have }: ConsoleMark) => (
      <>
        {have ?? 0} of {needed} <div class="soft">{ruleWords[rule]}</div>
      </>
    ),
  },
  {
    name: "From",
    by: ({ reporter_id: reporter }: ConsoleMark) => reporter,
    cell: ({ reporter_id: reporter, source, key_id: key, distance_m: away }: ConsoleMark) => (
      <>
        <a href={`#/rollback?reporter=${reporter}`}>reporter #{reporter}</a>
        <div class="soft">
          {source}
          {key !== null && `, key #${key}`}
          {away !== null && `, ${metres(away)} away`}
        </div>
      </>
    ),
  },
];

function tone(mark: ConsoleMark): string {
  const word = outcomeWords(mark);
  if (word === "published" || word === "confirmed") return "good";
  if (word === "failed" || word === "rejected" || word === "withdrawn") return "bad";
  return word === "held" || word === "conflict" ? "warn" : "";
}
