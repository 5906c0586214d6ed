import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { Type, type Static } from "typebox";
import {
  type ConsoleCall,
  consoleCall,
  idOf,
  type OperatorGate,
} from "#api/console/operator-gate.ts";
import { runImport } from "#api/console/import-runner.ts";
import { refuseForeign } from "#api/pages/guards.ts";
import { orThrow, refused } from "#api/http/errors.ts";
import type { PageRouter } from "#api/http/route.ts";
import { queryReader } from "#api/http/register-routes.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { type ConsoleSource, guardNames, importKinds } from "#src/contract/console-imports.ts";
import { firstRefused } from "#src/import/refusals.ts";
import { listRuns, refusedRowsOf, startRun } from "#src/import/runs.ts";
import { shippedSources } from "#src/import/source-list.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { entries } from "#src/contract/query.ts";
import { idText, line, rowId } from "#src/operators/inputs.ts";

const bytesMax = 50 * 1024 * 1024;
const path = "/console/api/imports";

const asked = Type.Object({
  kind: Type.Union(importKinds.map((kind) => Type.Literal(kind))),
  file: line(1, 200),
  source: Type.Optional(idText(40)),
  replace_source: Type.Optional(Type.Boolean()),
  allow_removals: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
  dry_run: Type.Boolean(),
  /** Bytes of each file, where several come as one body; `file` then has their names, with commas between. */
  sizes: Type.Optional(Type.String({ pattern: "^\\d{1,9}(,\\d{1,9}){1,4}$" })),
  /** Guards of whole files that are overridden, with commas between. */
  force: Type.Optional(
    Type.String({
      pattern: `^[ ,]*((${guardNames.join("|")})([ ,]+|$))*$`,
      wanted: `hold names of guards: ${guardNames.join(", ")}`,
    }),
  ),
});

const sources: ConsoleSource[] = shippedSources.map(({ name, title, files }) => ({
  ...{ name, title },
  files: files.map((file) => file.name),
}));

/** Imports of the console, the newest first, with how far they are, and the rows that they have left out. */
export const importCalls = ({ db }: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/imports", { role: "viewer" }, async (ctx) => {
    ctx.body = { imports: await listRuns(db), sources };
  }),
  consoleCall("GET", "/imports/{id}/refused", { role: "viewer" }, async (ctx) => {
    ctx.body = { rows: firstRefused(await refusedCsv(db, ctx.params["id"])) };
  }),
  consoleCall("GET", "/imports/{id}/refused.csv", { role: "viewer" }, async (ctx) => {
    const csv = await refusedCsv(db, ctx.params["id"]);
    ctx.set({
      "Content-Type": "text/csv; charset=utf-8",
      "Content-Disposition": 'attachment; filename="refused.csv"',
    });
    ctx.body = csv;
  }),
];

async function refusedCsv(db: Db, id: string | undefined): Promise<string> {
  const packed = await refusedRowsOf(db, idOf(rowId, id));
  if (packed === null) throw refused("not-found", "This import has no rows that were left out.");
  return (await promisify(gunzip)(packed)).toString("utf8");
}

/**
 * `POST /console/api/imports`: takes a file of at most 50 MB as it is, and imports it behind the answer. One at a time
 * in each process: a country in memory twice is enough.
 */
export function uploadPage(router: PageRouter, services: ConsoleDeps, gate: OperatorGate): void {
  const { db, config } = services;
  const readQuery = queryReader(asked);
  let busy = false;
  router.post(path, async (ctx) => {
    refuseForeign(ctx, config);
    const viewer = orThrow(await gate.admit(ctx, "operator"));
    const { "content-type": type = "", "content-length": length = "0" } = ctx.headers;
    if (type !== "application/octet-stream")
      throw refused("unsupported-media-type", "Send `Content-Type: application/octet-stream`.");
    const { values, refusal } = readQuery(ctx.querystring);
    if (refusal !== null) throw refusal;
    if (Number(length) > bytesMax) throw tooLarge;
    if (busy)
      throw refused("import-running", "An import is running here. Wait until it has ended.");
    busy = true;
    const { kind, file, source, replace_source = false, dry_run } = values as unknown as Asked;
    const { allow_removals: allowRemovals, sizes, force = "" } = values as unknown as Asked;
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-import-")).catch((error: unknown) => {
      busy = false;
      throw error;
    });
    const clean = async (): Promise<void> => {
      busy = false;
      await rm(folder, { recursive: true, force: true });
    };
    try {
      const names = sizes === undefined ? [file] : file.split(",").map((name) => name.trim());
      const paths = await receive(ctx.req, folder, names, sizes?.split(",").map(Number));
      const actor = viewer.account.name;
      const row = { kind, file, source: source ?? null, replace_source, dry_run, actor };
      const id = await startRun(db, row);
      const removals = { replaceSource: replace_source, allowRemovals };
      const refusals = join(folder, "refused.csv");
      const task = { kind, paths, refusals, force: entries(force), source, ...removals };
      runImport(services, { id, actor, file, names }, { ...task, dryRun: dry_run }, clean);
      ctx.status = 202;
      ctx.set("Cache-Control", "no-store");
      ctx.body = { id };
    } catch (error) {
      await clean();
      throw error;
    }
  });
}

type Asked = Static<typeof asked>;

const tooLarge = refused(
  "body-too-large",
  "A file of at most 50 MB. Import larger ones on the server: `npm run operator -- stations import FILE`.",
);

const brokenOff = refused("validation-failed", [
  { loc: ["body"], msg: "Body ended too early", type: "incomplete" },
]);

/**
 * Writes the request's body to files of the folder, and gives their paths; `sizes` (bytes) says where each ends. Throws
 * a refusal when it is too long, breaks off, or has another length than the files.
 */
async function receive(
  from: IncomingMessage,
  folder: string,
  names: readonly string[],
  sizes?: readonly number[],
): Promise<string[]> {
  // The file's own name stays on the page: its ending is all that a reader looks at.
  const pathOf = (name: string, n: number): string =>
    join(folder, `upload${n}${/\.\w{1,10}$/.exec(name)?.[0] ?? ""}`);
  const whole = pathOf(sizes === undefined ? names[0]! : "", 0);
  const bytes = await receiveWhole(from, whole);
  if (sizes === undefined) return [whole];
  if (sizes.length !== names.length || sizes.reduce((a, b) => a + b, 0) !== bytes) throw brokenOff;
  let start = 0;
  const paths: string[] = [];
  for (const [n, size] of sizes.entries()) {
    const path = pathOf(names[n]!, n + 1);
    const part = size === 0 ? [] : createReadStream(whole, { start, end: start + size - 1 });
    await pipeline(part, createWriteStream(path));
    paths.push(path);
    start += size;
  }
  return paths;
}

/** Writes the request's body to the file `copy`, and gives its length. */
async function receiveWhole(from: IncomingMessage, copy: string): Promise<number> {
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      // The rest is thrown away, so that the sender gets to see the answer.
      done(null, bytes > bytesMax ? undefined : chunk);
    },
  });
  try {
    await pipeline(from, counted, createWriteStream(copy));
  } catch (error) {
    throw from.complete ? error : brokenOff;
  }
  if (bytes > bytesMax) throw tooLarge;
  return bytes;
}
