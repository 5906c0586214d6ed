import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

const run = promisify(execFile);
/** Its compiler is the last one that other tools can call. */
const packages = [
  ...["typescript@5", "@types/node@20", "tsx@4"],
  ...["openapi-typescript@7", "openapi-fetch@0", "orval@7", "@hey-api/openapi-ts@0"],
];

/**
 * Clients that others' generators make of the OpenAPI document compile under `strict` and work against the service. The
 * generators come from the npm registry; without it the tests are skipped.
 */
describe("long: generated clients", function () {
  this.timeout(900_000);
  const { country, web, webs } = useStage(20, ["web", "marks"]);
  let folder: string;
  let document: string;

  before(async function () {
    folder = mkdtempSync(join(tmpdir(), "fuelmark-generators-"));
    writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
    const strict = { strict: true, skipLibCheck: true, noEmit: true, lib: ["ES2022", "DOM"] };
    const modules = { module: "esnext", moduleResolution: "bundler", target: "es2022" };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...strict, ...modules }, include: ["**/*.ts"] }),
    );
    try {
      await run("npm", ["install", "--no-audit", "--no-fund", ...packages], { cwd: folder });
    } catch (error) {
      console.log(`      no packages from npm: ${(error as Error).message.slice(0, 200)}`);
      this.skip();
    }
    document = `${web.baseUrl}/api/v1/partner/openapi`;
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
  });

  const npx = (...args: string[]) => run("npx", args, { cwd: folder });
  /** Compiles everything so far, runs `source` as a program and answers what it says as JSON. */
  async function compileAndRun(name: string, source: string): Promise<unknown> {
    const [web] = webs;
    const head = `const baseUrl = "${web!.baseUrl}/api/v1/partner";
const headers = { Authorization: "Bearer ${country.secret}" };
const station = ${JSON.stringify(placeOf(1))};\n`;
    writeFileSync(join(folder, `${name}.ts`), source.replace("// HEAD\n", head));
    await npx("tsc", "-p", ".").catch((error: Error & { stdout?: string }) => {
      throw new Error(error.stdout || error.message);
    });
    return JSON.parse((await npx("tsx", `${name}.ts`)).stdout) as unknown;
  }

  it("openapi-typescript and openapi-fetch", async () => {
    await npx("openapi-typescript", `${document}.json`, "-o", "paths.ts");
    const said = await compileAndRun(
      "fetched",
      `import createClient from "openapi-fetch";
import type { paths } from "./paths";
// HEAD
const client = createClient<paths>({ baseUrl, headers });
const { data } = await client.GET("/stations", { params: { query: { bbox: "-90,-180,90,180" } } });
const first = data!.stations[0]!.fuel.status satisfies "yes" | "low" | "queue" | "no" | "nodata";
const sent = await client.POST("/stations/{station_id}/report", {
  params: { path: { station_id: station.id } },
  body: { user_ref: "a generator", status: "yes", lat: station.lat, lon: station.lon },
});
const missing = await client.GET("/stations/{station_id}", { params: { path: { station_id: "x" } } });
console.log(JSON.stringify([first, sent.data!.published.outcome, missing.error!.type.split("/").at(-1)]));`,
    );
    expect(said).to.deep.equal(["nodata", "published", "station-not-found"]);
  });

  it("hey-api", async () => {
    await npx("openapi-ts", "-i", `${document}.json`, "-o", "hey");
    const said = await compileAndRun(
      "heyed",
      `import { getStation, listCities } from "./hey";
import { client } from "./hey/client.gen";
// HEAD
client.setConfig({ baseUrl, headers });
const { data } = await getStation({ path: { station_id: station.id } });
const cities = await listCities();
console.log(JSON.stringify([data!.station.id, cities.data!.count >= 0]));`,
    );
    expect(said).to.deep.equal([placeOf(1).id, true]);
  });

  it("orval, of the 3.0 form", async () => {
    writeFileSync(
      join(folder, "orval.config.mjs"),
      `export default { api: { input: "${document}-3.0.json",
  output: { target: "./orval.ts", client: "fetch", baseUrl: { getBaseUrlFromSpecification: true }, override: { mutator: { path: "./ask.ts", name: "ask" } } } } };`,
    );
    writeFileSync(
      join(folder, "ask.ts"),
      `export const ask = async <T>(url: string, init: RequestInit): Promise<T> => {
  const { KEY } = process.env as { KEY: string };
  const response = await fetch(url, {
    ...init,
    headers: { ...(init.headers as Record<string, string>), Authorization: KEY },
  });
  return { status: response.status, data: await response.json(), headers: response.headers } as T;
};`,
    );
    await npx("orval");
    const said = await compileAndRun(
      "orvaled",
      `import { getStation } from "./orval";
// HEAD
process.env.KEY = headers.Authorization;
const found = await getStation(station.id);
console.log(JSON.stringify(found.status === 200 ? found.data.station.id : found.status));`,
    );
    expect(said).to.equal(placeOf(1).id);
  });
});
