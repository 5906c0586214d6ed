import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "#demo/country/random.ts";
import { formatTime } from "#src/domain/time.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createClient } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import type { History, Read } from "#test/fault/history.ts";
import { isKept, type Load, type Sent, startLoad } from "#test/fault/load.ts";
import { createReader } from "#test/fault/reader.ts";
import { runOperator } from "#test/harness/operator.ts";
import type { Served } from "#test/soak/others.ts";
import { type SoakStage, soakStations } from "#test/soak/stage.ts";

/** The keys of the readers are revoked one after the other, and asked for a while afterwards. */
const keyLifeMs = 90_000;
const afterlifeMs = 90_000;
const actEveryMs = 20_000;

interface Key {
  name: string;
  text: string;
  partnerId: number;
}

/** What partners, drivers and the operator do all the time, whatever happens. */
export interface Traffic {
  /** Every mark sent so far. */
  readonly sent: readonly Sent[];
  /** The operator's acts that succeeded, by kind. */
  readonly acts: ReadonlyMap<string, number>;
  /** What was answered to calls that have begun since then, ms since the epoch; of the last minutes. */
  since(ms: number): Served;
  /**
   * Stops marks and the operator, waits for what is on its way, and sends again what was not taken. Reads go on.
   */
  settle(): Promise<void>;
  /** Lets both go on. */
  resume(): void;
  stop(): Promise<void>;
}

export async function startTraffic(
  stage: SoakStage,
  history: History,
  random: Random,
  perSecond: { marks: number; reads: number },
): Promise<Traffic> {
  const sent: Sent[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const clients = stage.webs.map((web) =>
    createClient(web.process().baseUrl, stage.country.secret),
  );
  let marks = 0;
  const begin = (): Load =>
    startLoad(clients, marks, { perSecond: perSecond.marks, stations: soakStations });
  let load = begin();
  const operator = startOperator({ stage, history, random, signal });
  const outside = { stage, history, random, signal };
  const lately: Timed[] = [];
  const reads = readOn(outside, operator.keys, perSecond.reads, lately);
  return {
    sent,
    acts: operator.acts,
    since: (ms) => {
      const begun = (all: readonly Timed[]) =>
        all
          .filter(({ startedAt }) => startedAt >= ms)
          .map(({ startedAt, endedAt, status }) => ({ ms: endedAt - startedAt, status }));
      return { forMs: Date.now() - ms, reads: begun(lately), marks: begun(load.sent) };
    },
    settle: async () => {
      await Promise.all([load.stop(), operator.rest()]);
      await load.retryAll();
      sent.push(...load.sent);
      marks += new Set(load.sent.map((one) => one.externalId)).size;
    },
    resume: () => {
      load = begin();
      operator.goOn();
    },
    stop: async () => {
      await load.stop();
      stopping.abort();
      await Promise.all([reads, operator.over]);
    },
  };
}

type Timed = Pick<Read, "startedAt" | "endedAt" | "status">;

/** Reads that `since` is asked about. */
const latelyMost = 5000;

interface Outside {
  stage: SoakStage;
  history: History;
  random: Random;
  signal: AbortSignal;
}

/** Reads of every kind, each as a partner would: with the ETag of the answer before, or without, packed or not. */
async function readOn(
  { stage, history, random, signal }: Outside,
  keys: { secret: Key[]; publishable: Key[] },
  perSecond: number,
  lately: Timed[],
): Promise<void> {
  const reader = createReader(history);
  const etags = new Map<string, string>();
  const cursors = new Map<string, string>();
  const pathOf = (): { path: string; kind: "secret" | "publishable" } => {
    const place = placeOf(random.int(0, soakStations - 1));
    const box = [place.lat - 0.01, place.lon - 0.01, place.lat + 0.01, place.lon + 0.01];
    const since = cursors.get("delta") ?? formatTime(Date.now() - 60_000);
    const delta = `/stations/delta?updated_since=${encodeURIComponent(since)}`;
    return random.weighted([
      [{ path: `/stations/${place.id}`, kind: "secret" }, 4] as const,
      [{ path: `/stations/${place.id}`, kind: "publishable" }, 1] as const,
      [
        {
          path: `/stations?bbox=${box.map((side) => side.toFixed(2)).join(",")}`,
          kind: "publishable",
        },
        4,
      ] as const,
      [
        { path: `/stations?city=${encodeURIComponent("Тестоград")}&radius_km=20`, kind: "secret" },
        2,
      ] as const,
      [{ path: "/stations/all?limit=30000", kind: "secret" }, 3] as const,
      [{ path: "/stations/all?status=yes", kind: "secret" }, 1] as const,
      [
        { path: `/stations/all.${random.pick(["geojson", "ndjson", "csv"])}`, kind: "secret" },
        1,
      ] as const,
      [{ path: delta, kind: "secret" }, 4] as const,
    ]);
  };
  const readOne = async (): Promise<void> => {
    const web = random.pick(stage.webs);
    const { path, kind } = pathOf();
    if (keys[kind].length === 0) return;
    const key = random.pick(keys[kind]);
    const encoding = random.pick(["gzip", "br", "identity"] as const);
    const sentEtag = random.chance(0.5) ? (etags.get(`${path} ${kind}`) ?? null) : null;
    const { baseUrl } = web.process();
    const read = await reader.read(web.life(), { baseUrl, path, key, encoding, sentEtag });
    lately.push(read);
    if (lately.length > latelyMost) lately.splice(0, latelyMost / 2);
    if (read.etag !== null) etags.set(`${path} ${kind}`, read.etag);
    if (path.includes("/delta") && read.status === 200 && read.body !== null)
      cursors.set("delta", (JSON.parse(read.body) as { as_of: string }).as_of);
  };
  const underWay = new Set<Promise<void>>();
  const startedAt = Date.now();
  for (let count = 0; !signal.aborted; await sleep(1000 / perSecond)) {
    const due = ((Date.now() - startedAt) / 1000) * perSecond;
    // Those that a frozen process keeps waiting are as many as a partner would let wait.
    for (; count < due; count += 1) {
      if (underWay.size > 100) continue;
      const one: Promise<void> = readOne().finally(() => underWay.delete(one));
      underWay.add(one);
    }
  }
  await Promise.all(underWay);
  reader.close();
}

/** An operator who issues and revokes keys, withdraws marks of a station, and takes that back. */
function startOperator({ stage, history, random, signal }: Outside) {
  const keys: { secret: Key[]; publishable: Key[] } = { secret: [], publishable: [] };
  const acts = new Map<string, number>();
  const act = async (name: string, ...args: string[]): Promise<unknown> => {
    const { code, json } = await runOperator(stage.env, "--json", ...args, "--yes").catch(() => ({
      code: 1,
      json: null,
    }));
    if (code === 0) acts.set(name, (acts.get(name) ?? 0) + 1);
    return code === 0 ? json : null;
  };
  const forget = async (of: Key[], key: Key): Promise<void> => {
    await sleep(afterlifeMs, undefined, { signal }).catch(() => undefined);
    of.splice(of.indexOf(key), 1);
  };
  const renew = async (): Promise<void> => {
    const old = { secret: keys.secret.at(-1), publishable: keys.publishable.at(-1) };
    const partner = await addPartner(stage.country);
    for (const kind of ["secret", "publishable"] as const) {
      const name = `${kind} of ${partner.id}`;
      keys[kind].push({ name, text: partner[kind], partnerId: partner.id });
      const last = old[kind];
      if (last === undefined) continue;
      const [row] = await rows<{ id: number }>(
        stage.country.db,
        "select id from keys where partner_id = ? and kind = ?",
        [last.partnerId, kind],
      );
      if ((await act("keys revoked", "key", "revoke", String(row!.id))) === null) continue;
      history.revoked(last.name, Date.now());
      void forget(keys[kind], last);
    }
  };
  const withdraw = async (): Promise<void> => {
    const station = placeOf(random.int(0, soakStations - 1)).id;
    const since = formatTime(Date.now() - 30_000);
    const which = ["--station", station, "--since", since];
    const done = (await act("rollbacks", "marks", "rollback", ...which)) as { id: number } | null;
    if (done?.id == null || random.chance(0.5)) return;
    const isDone = history.takesBack();
    await act("rollbacks taken back", "marks", "rollback", "undo", String(done.id));
    isDone();
  };
  let isResting = false;
  let acting: Promise<void> = Promise.resolve();
  const over = (async () => {
    let renewedAt = -Infinity;
    while (!signal.aborted) {
      if (isResting) {
        await sleep(500);
        continue;
      }
      // Where a server is away, so is the operator.
      const isDue = performance.now() - renewedAt >= keyLifeMs;
      if (isDue) renewedAt = performance.now();
      acting = (isDue ? renew() : withdraw()).catch(() => undefined);
      await acting;
      await sleep(actEveryMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    ...{ keys, acts, over },
    rest: (): Promise<void> => {
      isResting = true;
      return acting;
    },
    goOn: (): void => void (isResting = false),
  };
}

/** How the marks were answered: status → how many. */
export function countAnswers(sent: readonly Sent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of sent) {
    const name = isKept(one) ? "acknowledged" : String(one.status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
