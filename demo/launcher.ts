import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { startBuild } from "#demo/building.ts";
import { demoKeys } from "#demo/demo-keys.ts";
import { demoOperator } from "#demo/demo-operator.ts";
import { fillEmptyDatabase, undoHalfFill } from "#demo/fill.ts";
import { givenCountry, importGiven } from "#demo/given-country.ts";
import { lockFolder } from "#demo/lock.ts";
import { release } from "#demo/release.ts";
import { runRoles } from "#demo/run-roles.ts";
import { screen } from "#demo/screen.ts";
import { secretsOf } from "#demo/secrets.ts";
import { sentenceOf } from "#demo/sentence.ts";
import { claimWebPort } from "#demo/servers/port.ts";
import { startServers } from "#demo/servers/start.ts";
import { givenSettings, loadConfig, settings } from "#src/infrastructure/config.ts";
import { basemapWord } from "#src/infrastructure/map-settings.ts";

// `npm start`: everything on this machine, for a trial. What it needs between two runs lies in .data/.
const dataDir = resolve(".data");
const runFile = join(dataDir, "run.json");
const startedAt = Date.now();

// Roles get 6 s of these, servers the rest.
const stopMs = 10_000;

const asked = new Promise<"asked">((done) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      setTimeout(() => process.exit(1), stopMs).unref();
      done("asked");
    });
  }
});

process.exitCode = await main();
// Whatever a step that was broken off still has open must not keep the terminal waiting.
process.exit();

/** Runs until it is told to stop. Answers the exit code. */
async function main(): Promise<number> {
  const cleanUp: (() => Promise<void> | void)[] = [];
  try {
    return await Promise.race([start(cleanUp), asked.then(() => 0)]);
  } catch (error) {
    console.error(`\n${sentenceOf(error, dataDir)}`);
    return 1;
  } finally {
    if (cleanUp.length > 0) console.log("\nStopping …");
    for (const step of cleanUp.reverse()) await step();
    if (cleanUp.length > 0) console.log("Stopped. `npm start` goes on where this left off.");
  }
}

/** Starts everything in order, each step noting how to undo it. Settles only when something of it fails. */
async function start(cleanUp: (() => Promise<void> | void)[]): Promise<number> {
  // A bad one would end role after role: better one sentence now.
  loadConfig(process.env);
  const given = await givenCountry(process.argv.slice(2));
  // Not a folder that may have been copied with a dead run's file in it: the lock says who lives.
  if (!(await lockFolder(dataDir))) {
    console.log(`Fuelmark is already running from this folder${runningAt()}`);
    return 0;
  }
  // One that a killed run left behind names servers that are gone.
  rmSync(runFile, { force: true });
  const starting = startServers({ dataDir, env: process.env, durable: true, log: console.log });
  // Told to stop in the middle, this waits for the server that is being born.
  cleanUp.push(() => starting.then((servers) => servers.stop()).catch(() => undefined));
  // Awaited only where it is needed: the database is filled meanwhile.
  const bundle = startBuild("roles", console.log);
  const pages = startBuild("pages", console.log);
  cleanUp.push(async () => void (await Promise.all([bundle.stop(), pages.stop()])));
  const servers = await starting;

  const secrets = secretsOf(dataDir);
  const wanted = Number(process.env.PORT) || settings.port.fallback;
  const claimed = await claimWebPort(wanted);
  const { port } = claimed;
  if (port !== wanted) console.log(`Port ${wanted} is taken: this instance uses ${port}.`);
  const baseUrl = process.env.BASE_URL || `http://localhost:${port}`;
  const env = {
    ...process.env,
    REPORTER_PEPPER: process.env.REPORTER_PEPPER || secrets.reporterPepper,
    // A trial's map has streets where the browser reaches them; the screen says so. A real country asks nobody unasked.
    BASEMAP: process.env.BASEMAP || (given === null ? "openfreemap" : ""),
    DATABASE_URL: servers.databaseUrl,
    REDIS_URL: servers.redisUrl,
    PORT: String(port),
    // What is printed says localhost: a trial is nobody else's unless its operator says so.
    HOST: process.env.HOST || "127.0.0.1",
    BASE_URL: baseUrl,
    STOP_MS: "5000",
  };

  await undoHalfFill(env, dataDir);
  await bundle.done;
  await release(env);
  if (given === null) await fillEmptyDatabase(env, dataDir);
  const area = given === null ? undefined : await importGiven(env, given);
  const keys = await demoKeys(env, dataDir);
  const operator = await demoOperator(env, dataDir);

  await pages.done;
  await claimed.letGo();
  const roles = runRoles(env, join(dataDir, "logs"));
  cleanUp.push(() => roles.stop());
  const failed = Promise.race([
    roles.failed,
    servers.lost.then((name) => fail(`${name} has ended`)),
  ]);
  await Promise.race([roles.ready(`http://127.0.0.1:${port}/readyz`), failed]);

  const run = { pid: process.pid, port, baseUrl, startedAt: new Date(startedAt).toISOString() };
  // What `operator` needs to know of this instance, so that it works with the same settings; as private as secrets.json.
  const urls = { databaseUrl: servers.databaseUrl, redisUrl: servers.redisUrl };
  const known = { ...urls, reporterPepper: env.REPORTER_PEPPER, settings: givenSettings(env) };
  cleanUp.push(() => rmSync(runFile, { force: true }));
  writeFileSync(runFile, `${JSON.stringify({ ...run, ...known }, null, 2)}\n`, { mode: 0o600 });
  const seconds = (Date.now() - startedAt) / 1000;
  const word = await basemapWord(loadConfig(env));
  console.log(await screen({ baseUrl, port, keys, operator, seconds, area, word }));
  return failed;
}

function runningAt(): string {
  try {
    const { baseUrl } = JSON.parse(readFileSync(runFile, "utf8")) as { baseUrl: string };
    return `: ${baseUrl}`;
  } catch {
    return ", and still starting.";
  }
}

function fail(sentence: string): never {
  throw new Error(sentence);
}
