import { randomBytes } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { addPartners } from "#bench/country.ts";
import { startServer } from "#bench/processes.ts";
import { fillReadCountry } from "#bench/reads/country.ts";
import { openStage } from "#bench/stage.ts";
import { type WorstCase, worstCases } from "#bench/worst/cases.ts";
import { askRaw, cpuMsOf } from "#bench/worst/ask.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb, inTransaction } from "#src/infrastructure/db.ts";
import { storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";

const stationCount = 30_000;
const boundMs = 10;
/** Requests before the measured ones: code is compiled, blocks are deflated. */
const warmUps = 15;

interface Measured {
  name: string;
  statuses: string;
  kb: number;
  /** CPU of the web process per request, ms: the main thread, and the others (zlib, garbage). */
  mainMs: number;
  otherMs: number;
}

/**
 * What a request with a publishable key costs the web process at worst, whatever its parameters: CPU of all its
 * threads, over rectangles that nobody has asked for. Answers the section of results.md.
 */
export async function benchWorst({
  quick,
  only,
  profileTo,
}: {
  quick: boolean;
  /** Parts of the names of the cases to measure; all when there are none. */
  only: readonly string[];
  profileTo: string | undefined;
}): Promise<string> {
  const requests = quick ? 5 : 40;
  const port = await somePort();
  const stage = await openStage({ PORT: String(port) });
  try {
    console.log("Filling the country");
    const country = await fillReadCountry(stage.config, stationCount);
    const key = await addPublishable(stage.config);
    await addTowns(stage.config);
    const marks = await startServer(readProcfile().get("marks")!, stage.settings);
    stage.onClose(() => marks.stop());
    const web = await startServer(readProcfile().get("web")!, stage.settings, profileTo);
    stage.onClose(() => web.stop());
    const ask = (one: WorstCase, n: number) => askRaw(port, key, one.request(n));

    const loadBefore = loadavg();
    const measured: Measured[] = [];
    const wanted = worstCases(country).filter(
      ({ name }) => only.length === 0 || only.some((part) => name.includes(part)),
    );
    for (const one of wanted) {
      for (let n = 0; n < warmUps; n++) await ask(one, n);
      const statuses = new Map<number, number>();
      let bytes = 0;
      const before = cpuMsOf(web.pid);
      for (let n = warmUps; n < warmUps + requests; n++) {
        const answer = await ask(one, n);
        bytes += answer.bytes;
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      }
      const after = cpuMsOf(web.pid);
      const line = {
        name: one.name,
        statuses: [...statuses].map(([status, times]) => `${status} × ${times}`).join(", "),
        kb: bytes / requests / 1000,
        mainMs: (after.main - before.main) / requests,
        otherMs: (after.other - before.other) / requests,
      };
      measured.push(line);
      console.log(lineOf(line));
    }
    return report(measured, requests, loadBefore, country.real);
  } finally {
    await stage.close();
  }
}

/** A partner with a publishable key and the widest limits. */
async function addPublishable(config: Config): Promise<string> {
  const db = createDb(config, "bench");
  const [partner] = await addPartners(db, 1);
  const key = newKey("publishable", randomBytes(32));
  const row = { kind: "publishable" as const, prefix: keyPrefix(key), hash: hashKey(key) };
  await inTransaction(db, (tx) => storeKey(tx, { ...row, partner_id: partner!.id }, {}));
  await db.destroy();
  return key;
}

/** As many cities as a country has, to be searched by name. */
async function addTowns(config: Config): Promise<void> {
  const db = createDb(config, "bench");
  await db.raw(
    `insert into cities (id, source, name, region, lat, lon, population)
     select 'town-' || n, 'bench', 'Санкт-Залесск ' || n, 'Залесская область', 55 + n / 1000.0, 60, n
     from generate_series(1, 1200) as n`,
  );
  await db.destroy();
}

const lineOf = ({ name, statuses, kb, mainMs, otherMs }: Measured): string => {
  const total = mainMs + otherMs;
  const bold = total > boundMs ? "**" : "";
  const figures = [mainMs, otherMs].map((ms) => ms.toFixed(2)).join(" + ");
  return `| ${name} | ${statuses} | ${kb.toFixed(1)} | ${figures} | ${bold}${total.toFixed(2)}${bold} |`;
};

function report(
  measured: readonly Measured[],
  requests: number,
  loadBefore: readonly number[],
  real: boolean,
): string {
  const over = measured.filter(({ mainMs, otherMs }) => mainMs + otherMs > boundMs);
  const at = new Date().toISOString().slice(0, 16).replace("T", " ");
  return `What one request with a publishable key costs the web process, whatever its parameters: CPU of all threads, of ${requests} requests one after another, each with another rectangle, after ${warmUps} that are not measured. ${stationCount} stations (${real ? "real ones, repeated with offsets" : "made up"}), 60 % with a status. The bound is ${boundMs} ms (decisions 8.28); ${over.length === 0 ? "no case is above it" : `${over.length} cases are above it`}.

| request | answers | KB | CPU ms: main thread + zlib and garbage | together |
|---|---|---|---|---|
${measured.map(lineOf).join("\n")}

${at} UTC, \`npm run bench -- worst\`, ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}; load average ${loadBefore.map((one) => one.toFixed(1)).join(" ")} before. Other work on the same cores makes CPU time longer by its use of the caches.`;
}
