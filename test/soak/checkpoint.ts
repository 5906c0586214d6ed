import { shownFacts, shownFuel } from "#test/oracle/reads.ts";
import type { StationRow } from "#src/feed/feed.ts";
import { createClient } from "#client/client.ts";
import type { StationState } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { expectRefolded, untilServed } from "#test/flow/refold.ts";
import { checkCopies, checkMarks, type Copy, type Violation } from "#test/fault/history.ts";
import { storedMarks } from "#test/fault/proof.ts";
import { mendAll } from "#test/soak/faults.ts";
import { untilAtRest } from "#test/soak/others.ts";
import { untilTold } from "#test/soak/receivers.ts";
import { type Mirrors, textOf } from "#test/soak/mirrors.ts";
import type { Member, SoakStage } from "#test/soak/stage.ts";
import type { Traffic } from "#test/soak/traffic.ts";

/** How long the service has to be well again after the last fault. */
const recoveryMs = 240_000;

interface Ready {
  ready: boolean;
  degraded: string[];
  checks: Record<string, unknown>;
}

/**
 * Mends everything, waits until the service is well, and compares what it says with what it was told: marks, rows, states,
 * web processes, dump, delta, mirrors, webhooks; and whether web processes are as small as at their start.
 */
export async function checkAll(
  stage: SoakStage,
  traffic: Traffic,
  mirrors: Mirrors,
  since: string,
): Promise<Violation[]> {
  const steps: readonly (readonly [string, () => Promise<Violation[]>])[] = [
    ["every process is well again", async () => (await mendAll(stage), await untilWell(stage))],
    ["every mark is taken in the end", async () => (await traffic.settle(), [])],
    ["every mark is processed, and every web process knows", () => untilKnown(stage)],
    [
      "marks can be compared",
      async () => checkMarks(traffic.sent, await storedMarks(stage.country.db)),
    ],
    [
      "every station's state is the fold of its marks",
      async () => (await expectRefolded(stage.country.db, stage.config), []),
    ],
    ["copies can be compared", () => compareCopies(stage, mirrors, since)],
    ["every webhook is told of everything", () => untilTold(stage)],
    ["memory and sockets go back", () => untilAtRest(stage)],
  ];
  const found: Violation[] = [];
  for (const [invariant, step] of steps)
    try {
      found.push(...(await step()));
    } catch (error) {
      const why = (error as Error).message.slice(0, 4000);
      found.push({ invariant, evidence: { why, log: loudLines(stage) } });
      // What is not well says nothing of what follows.
      break;
    }
  return found;
}

/** The last warnings and errors of each process. */
const loudLines = ({ members }: SoakStage): Record<string, string[]> =>
  Object.fromEntries(
    members.map((member) => {
      const loud = member.process().lines.filter((line) => /"level":(40|50|60)/.test(line));
      return [member.name, loud.slice(-2).map((line) => line.slice(0, 300))];
    }),
  );

/** Each web process is ready with nothing degraded, and each other role runs. */
async function untilWell(stage: SoakStage): Promise<Violation[]> {
  for (const web of stage.webs)
    await until(
      async () => {
        // One that ends by itself is started again, as its supervisor would.
        if (web.hasEnded()) await web.restart();
        const answer = await fetch(`${web.process().baseUrl}/readyz`).catch(() => null);
        const ready = answer === null ? null : ((await answer.json()) as Ready);
        const bad = ready?.degraded.map((name) => [name, ready.checks[name]]) ?? [];
        return { web: web.name, ready: ready?.ready ?? false, bad };
      },
      ({ ready, bad }) => ready && bad.length === 0,
      recoveryMs,
    );
  return [];
}

async function untilKnown({ country, webs }: SoakStage): Promise<Violation[]> {
  await untilServed(
    country.db,
    webs.map((web) => web.process()),
  );
  return [];
}

/** The stations as the rows say, worked out here. */
async function truthOf({ country, config }: Compared): Promise<Copy> {
  const found = await rows<StationRow & { state: StationState | null; chance: number | null }>(
    country.db,
    `select s.id, s.lat, s.lon, s.brand, s.name, s.addr, s.grades_sold, s.opening_hours, s.closed, st.state, st.chance
     from stations s left join station_status st on st.station_id = s.id where s.removed_at is null`,
  );
  const now = Date.now();
  return new Map(
    found.map((row) => {
      const fuel = shownFuel(row, now, config.statusLifetimeMs);
      return [row.id, textOf({ ...shownFacts(row), fuel })];
    }),
  );
}

/** What is compared, when nothing is on its way any more. */
type Compared = Pick<SoakStage, "country" | "config"> & {
  webs: readonly Pick<Member, "name" | "process">[];
};

/** Every web process's dump and delta, and every mirror, against the rows; one ETag on all processes, which holds. */
export async function compareCopies(
  stage: Compared,
  mirrors: Mirrors,
  since: string,
): Promise<Violation[]> {
  const truth = await truthOf(stage);
  const copies = new Map<string, Copy>();
  const etags = new Map<string, string | null>();
  const found: Violation[] = [];
  const key = stage.country.secret;
  const startedAt = Date.now();
  for (const web of stage.webs) {
    const client = createClient({ baseUrl: web.process().baseUrl, key });
    // The dump may be a slot and a half behind; its `as_of` says so.
    const dump = await until(
      () => client.all.ifChanged({ limit: 30_000 }, null),
      ({ body }) => isSince(body?.as_of, startedAt),
      recoveryMs,
    );
    copies.set(`the dump of ${web.name}`, copyOf(dump.body?.stations ?? []));
    etags.set(web.name, dump.etag);
    const again = await client.all.ifChanged({ limit: 30_000 }, dump.etag);
    if (again.body !== null)
      found.push({
        invariant: "an ETag that still holds gets 304",
        evidence: { web: web.name, again },
      });
    const delta = await until(
      () => client.delta({ updated_since: since }),
      ({ as_of }) => isSince(as_of, startedAt),
      recoveryMs,
    );
    // It holds what has changed since the start of the run; the rest is as it was.
    copies.set(`the delta of ${web.name}`, new Map([...truth, ...copyOf(delta.stations)]));
  }
  for (const [name, copy] of await mirrors.copies()) copies.set(name, copy);
  if (new Set(etags.values()).size > 1)
    found.push({
      invariant: "all web processes have one ETag",
      evidence: Object.fromEntries(etags),
    });
  return [...found, ...checkCopies(truth, copies)];
}

/** Whether this `as_of`, in whole seconds, is that moment or later. */
const isSince = (asOf: string | undefined, ms: number): boolean =>
  asOf !== undefined && (parseTime(asOf) ?? 0) >= Math.floor(ms / 1000) * 1000;

const copyOf = (stations: readonly { id: string }[]): Copy =>
  new Map(stations.map((station) => [station.id, textOf(station)]));
