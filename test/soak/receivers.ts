import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Violation } from "#test/fault/history.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createClient, until } from "#test/flow/client.ts";
import type { Country } from "#test/flow/country.ts";
import { listening } from "#test/harness/listening.ts";
import { runOperator } from "#test/harness/operator.ts";
import { file, startSourceServer } from "#test/harness/source-server.ts";
import type { Begin } from "#test/soak/faults.ts";
import type { SoakStage } from "#test/soak/stage.ts";

/** Servers of others that the service connects to: partners' webhooks, and sources of feeds. */
export interface Receivers {
  /** Events that endpoints took which are always well. */
  taken(): number;
  /** Has the other endpoints answer so from now on. */
  setHooks(answer: HookAnswer): void;
  /** Their rows, to switch them on again. */
  badHooks: number[];
  /** Whether sources of all feeds but one send a byte every two seconds. */
  setDrip(on: boolean): void;
  goodFeed: number;
  drippingFeeds: number[];
}

const hookAnswers = {
  well: (response) => void response.writeHead(204).end(),
  hang: () => undefined,
  "answer 500": (response) => void response.writeHead(500).end("not now"),
  "answer 410": (response) => void response.writeHead(410).end(),
  drip: (response) => void drip(response.writeHead(200)),
} satisfies Record<string, (response: ServerResponse) => void>;
type HookAnswer = keyof typeof hookAnswers;

const goodHooks = 3;
const badHooks = 9;
const dripping = 6;
const dripMs = 2000;

async function drip(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.write(" ");
    await sleep(dripMs, undefined, { ref: false });
  }
}

/** A register of a few stations, as Italy writes it. */
const registers = [
  [
    "Estrazione del 2026-11-26",
    "idImpianto|Gestore|Bandiera|Tipo Impianto|Nome Impianto|Indirizzo|Comune|Provincia|Latitudine|Longitudine",
    ...Array.from(
      { length: 20 },
      (_, n) =>
        `${n + 1}|ROSSI|Agip Eni|Stradale|STAZIONE ${n + 1}|VIA ROMA ${n + 1}|MILANO|MI|45.${100 + n}|9.2`,
    ),
  ],
  [
    "Estrazione del 2026-11-26",
    "idImpianto|descCarburante|prezzo|isSelf|dtComu",
    ...Array.from({ length: 20 }, (_, n) => `${n + 1}|Gasolio|1.659|1|25/11/2026 08:00:00`),
  ],
].map((lines) => `${lines.join("\n")}\n`);

/** Starts the servers, and registers webhooks and feeds that lead to them. */
export async function openReceivers(
  stage: Pick<SoakStage, "env" | "webs"> & { country: Country },
): Promise<Receivers> {
  const { country, env, webs } = stage;
  let taken = 0;
  let mode: HookAnswer = "well";
  const open = new Set<ServerResponse>();
  const hooks = createServer((request, response) => {
    const isGood = request.url === "/good";
    open.add(response);
    response.once("close", () => open.delete(response));
    request.resume().once("end", () => {
      taken += isGood ? 1 : 0;
      hookAnswers[isGood ? "well" : mode](response);
    });
  });
  const { origin } = await listening("partners' servers", hooks);
  const client = createClient(webs[0]!.process().baseUrl, country.secret);
  const ids: number[] = [];
  for (let n = 0; n < goodHooks + badHooks; n += 1) {
    const url = `${origin}/${n < goodHooks ? "good" : "bad"}`;
    const { status, body } = await client.post("/webhooks", { url, events: ["stations.changed"] });
    if (status !== 201) throw new Error(`no webhook: ${JSON.stringify(body)}`);
    ids.push(Number(body.id));
  }
  const sources = await startSourceServer();
  let drips = false;
  const slow = new Set<ServerResponse>();
  const feeds: number[] = [];
  for (let n = 0; n <= dripping; n += 1) {
    const urls = registers.flatMap((text, part) => {
      const path = `/feed-${n}-${part}`;
      sources.answers.set(path, (response, request) => {
        if (n === 0 || !drips) return file(text)(response, request);
        slow.add(response);
        response.once("close", () => slow.delete(response));
        void drip(response.writeHead(200, { "Content-Length": "100000" }));
      });
      return ["--url", `${sources.origin}${path}`];
    });
    const words = ["feed", "add", "--source", "it-mimit", "--every", "1d", ...urls];
    const { code, err, json } = await runOperator(env, "--json", ...words);
    if (code !== 0) throw new Error(err);
    feeds.push(json.id as number);
  }
  await until(
    () =>
      rows<{ id: number; state: string }>(
        country.db,
        "select feed_id as id, state, fault from imports",
      ),
    (ran) =>
      feeds.every((feed) => ran.some(({ id, state }) => id === feed && wellEnded.has(state))),
  );
  return {
    taken: () => taken,
    setHooks: (next) => {
      mode = next;
      for (const response of open) response.destroy();
    },
    badHooks: ids.slice(goodHooks),
    setDrip: (on) => {
      drips = on;
      sources.asked.splice(0);
      if (!on) for (const response of slow) response.destroy();
    },
    goodFeed: feeds[0]!,
    drippingFeeds: feeds.slice(1),
  };
}

const wellEnded = new Set(["done", "unchanged"]);

/** Runs of feeds that ended well after a moment (ms since the epoch). */
const endedSql = `select feed_id as id from imports
  where state in ('done', 'unchanged') and finished_at > to_timestamp(?::float8 / 1000)`;

/** Everything that these servers are asked is answered well again. */
export async function mendReceivers({ country, receivers }: SoakStage): Promise<void> {
  receivers.setDrip(false);
  receivers.setHooks("well");
  // As their partners would, who have mended their servers.
  await rows(
    country.db,
    `update webhook_endpoints set off_at = null, off_reason = null, failures = 0, failing_since = null, next_at = '-infinity'
     where id = any(?) and (off_at is not null or failures > 0)`,
    [receivers.badHooks],
  );
}

const hooksForMs = 12_000;
const feedsForMs = 20_000;

export const spoilHooks: Begin = (stage, random) => {
  const { receivers } = stage;
  const modes = Object.keys(hookAnswers).filter((name) => name !== "well") as HookAnswer[];
  const mode = random.pick(modes);
  receivers.setHooks(mode);
  const [startedAt, before] = [Date.now(), receivers.taken()];
  return {
    kind: `webhooks that ${mode}`,
    what: `${badHooks} webhooks ${mode}`,
    sparesOthers: true,
    end: () => mendReceivers(stage),
    look: (): Violation[] => {
      const [ms, taken] = [Date.now() - startedAt, receivers.taken() - before];
      if (ms < hooksForMs || taken >= goodHooks) return [];
      return [{ invariant: "webhooks that are well go on", evidence: { ms, taken, mode } }];
    },
  };
};

export const dripFeeds: Begin = async (stage) => {
  const { receivers, country } = stage;
  const { goodFeed, drippingFeeds } = receivers;
  receivers.setDrip(true);
  const startedAt = Date.now();
  const makeDue = (ids: number[]): Promise<unknown> =>
    rows(country.db, "update feeds set due_at = server_now() where id = any(?)", [ids]);
  await makeDue(drippingFeeds);
  // They are found, and have taken their places.
  const later = setTimeout(() => void makeDue([goodFeed]).catch(() => undefined), 6000);
  return {
    kind: "dripping feeds",
    what: `${dripping} feeds drip`,
    sparesOthers: true,
    end: () => {
      clearTimeout(later);
      return mendReceivers(stage);
    },
    look: async (): Promise<Violation[]> => {
      const ms = Date.now() - startedAt;
      if (ms < feedsForMs) return [];
      const ended = await rows(country.db, `${endedSql} and feed_id = ?`, [startedAt, goodFeed]);
      if (ended.length > 0) return [];
      const runs = await rows(
        country.db,
        "select feed_id, state, step, fault from imports order by id desc limit 5",
      );
      return [{ invariant: "a feed that is well goes on", evidence: { ms, runs } }];
    },
  };
};

/** Every change is in a delivery of each webhook, and each delivery was taken. */
export async function untilTold({ country }: Pick<SoakStage, "country">): Promise<Violation[]> {
  const { db } = country;
  const [newest] = await rows<{ seq: number }>(db, "select max(seq) as seq from changes");
  const sql = `select id, change_seq as seq, failures, off_reason, (select count(*) from webhook_deliveries
      where endpoint_id = e.id and delivered_at is null) as waiting
    from webhook_endpoints e where change_seq < ? or off_at is not null`;
  await until(
    () => rows(db, sql, [newest!.seq]),
    (left) => left.length === 0,
  );
  return [];
}
