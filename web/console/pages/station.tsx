import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ConsoleStationPage } from "#src/contract/console.ts";
import type { ConsoleChance } from "#src/contract/console-review.ts";
import type { Step } from "#src/domain/explain.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { minuteMs } from "#src/domain/units.ts";
import type { Reason } from "#src/domain/vocabulary.ts";
import { useLoaded } from "#web/console/api.ts";
import { StationChance } from "#web/console/parts/station-chance.tsx";
import { StationFacts } from "#web/console/parts/station-facts.tsx";
import { StationJoins } from "#web/console/parts/station-joins.tsx";
import { StationMarks } from "#web/console/parts/station-marks.tsx";
import { StationPlace } from "#web/console/parts/station-place.tsx";
import { Status } from "#web/console/parts/status.tsx";
import { stepWords } from "#web/console/reasons.ts";
import { say, sayWith, type Text } from "#web/console/words.ts";
import { Moment } from "#web/kit/time.tsx";
import { Loaded } from "#web/kit/resource.tsx";

const everyMs = 10_000;
const chanceEveryMs = minuteMs;
const stepsAtFirst = 12;

/** One station: its status with the reasons, its facts, its place, and all its marks. */
export function StationPage({ id }: { id: string }) {
  const loading = useLoaded<ConsoleStationPage>(`/stations/${encodeURIComponent(id)}`, everyMs);
  const chance = useLoaded<ConsoleChance>(
    `/stations/${encodeURIComponent(id)}/chance`,
    chanceEveryMs,
  );
  return (
    <section>
      <p class="trail">
        <a href="#/stations">{say("Stations")}</a>
      </p>
      <Loaded of={loading}>
        {(page) => (
          <>
            <h1>{page.station.name || page.station.brand || page.station.id}</h1>
            <p class="soft">
              <code>{page.station.id}</code>
              {page.station.brand !== "" && ` · ${page.station.brand}`}
              {page.station.addr !== "" && ` · ${page.station.addr}`}
              {` · ${page.station.lat.toFixed(5)}, ${page.station.lon.toFixed(5)} · ${say("from {source}", { source: page.station.source })}`}
              {page.station.removed && (
                <span class="tag bad">
                  {page.by_hand.in_service === false
                    ? say("closed by hand")
                    : say("out of service")}
                </span>
              )}
              {page.by_hand.in_service === true && (
                <span class="tag">{say("kept in service by hand")}</span>
              )}
            </p>
            <Fuel page={page} />
            <StationChance of={chance} />
            <StationFacts page={page} changed={loading.load} />
            <StationJoins page={page} changed={loading.load} />
            <StationPlace station={page.station} />
            <Why steps={page.steps} before={page.steps_before} cut={page.history_cut} />
            <StationMarks
              id={id}
              first={page.marks}
              next={page.next}
              chances={chance.value.value?.marks ?? []}
            />
          </>
        )}
      </Loaded>
    </section>
  );
}

/** The fuel block as partners get it (docs/contract.md 2.2). */
function Fuel({ page: { fuel, station } }: { page: ConsoleStationPage }) {
  const facts: [name: string, value: string][] = [
    [say("has"), fuel.fuels_now],
    [say("out of"), fuel.fuels_no],
    [say("prices"), (fuel.prices ?? "").replaceAll(",", ", ")],
    [say("queue"), fuel.queue],
    [say("limit"), fuel.limit_l === null ? "" : say("{n} l", { n: String(fuel.limit_l) })],
    [say("cash"), fuel.no_cash ? say("not taken") : ""],
    [say("fuel cards"), fuel.fuel_cards_only ? say("only") : ""],
    [say("confirmations"), fuel.seeded ? say("imported") : String(fuel.confirmations)],
    [say("live devices"), String(fuel.real_count)],
    [say("pending"), pendingWords(fuel)],
    [say("reason"), say(reasons[fuel.resolution_reason])],
    [say("updated (UTC)"), fuel.updated],
  ];
  return (
    <div class="card">
      <div class="title">
        <h2>{sayWith("Shown now: {status}", { status: <Status status={fuel.status} /> })}</h2>
        <a href={`#/rollback?station=${station.id}`}>{say("Withdraw marks …")}</a>
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
          {say("Drivers disagree: {sides}", {
            sides: fuel.conflict.versions
              .map(({ status, count, updated }) =>
                say(sides[status], { n: String(count), at: updated }),
              )
              .join(` ${say("against")} `),
          })}
        </p>
      )}
    </div>
  );
}

const reasons: Record<Reason, Text> = {
  published: "published",
  unconfirmed: "unconfirmed",
  conflict: "conflict",
  no_data: "no_data",
};

const pending = {
  yes: "yes: {n}",
  low: "low: {n}",
  no: "no: {n}",
  queue: "queue: {n}",
} as const;

function pendingWords({ pending_status: status, pending_count: count }: FuelBlock): string {
  return status === "" ? "" : say(pending[status], { n: String(count) });
}

/** The sentences for the sides of a dispute. */
const sides = {
  yes: "yes by {n} ({at} UTC)",
  low: "low by {n} ({at} UTC)",
  no: "no by {n} ({at} UTC)",
  queue: "queue by {n} ({at} UTC)",
} as const;

/** The fold step by step, the newest first. */
function Why({ steps, before, cut }: { steps: readonly Step[]; before: number; cut: boolean }) {
  const [all, setAll] = useState(false);
  const newest = steps.toReversed();
  const shown = all ? newest : newest.slice(0, stepsAtFirst);
  return (
    <div class="card">
      <h2>{say("Why")}</h2>
      {steps.length === 0 && (
        <p class="empty">{say("There is no counted mark or import for this station.")}</p>
      )}
      <ol class="steps">
        {shown.map((step, n) => (
          <li key={steps.length - n} class={step.kind}>
            <Moment at={step.at} />
            <p>{stepWords(step)}</p>
            <p class="soft">
              {sayWith("then: {status}", { status: <Status status={step.shown.status} /> })}
              {step.shown.seeded && ` ${say("(imported)")}`}
              {step.shown.confirmations > 0 &&
                ` ${say("by {n}, {live} live", {
                  n: String(step.shown.confirmations),
                  live: String(step.shown.realCount),
                })}`}
              {step.shown.pendingStatus !== "" && (
                <>
                  {" · "}
                  {sayWith("pending {status} {n}", {
                    status: <Status status={step.shown.pendingStatus} />,
                    n: String(step.shown.pendingCount),
                  })}
                </>
              )}
              {step.shown.reason === "conflict" && ` · ${say("dispute")}`}
            </p>
          </li>
        ))}
      </ol>
      {!all && newest.length > shown.length && (
        <Button onClick={() => setAll(true)}>
          {say("Show {n} earlier steps", { n: String(newest.length - shown.length) })}
        </Button>
      )}
      {all && before > 0 && (
        <p class="soft">{say("{n} earlier steps are not shown.", { n: String(before) })}</p>
      )}
      {cut && (
        <p class="soft">
          {say(
            "This station has many marks. The steps are worked out from the newest ones only; the status above is the one that is served.",
          )}
        </p>
      )}
    </div>
  );
}
