import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Type, type Static } from "typebox";
import { type ConsoleCall, consoleCall, type OperatorGate } from "#api/console/operator-gate.ts";
import { runImport } from "#api/console/import-runner.ts";
import { refuseForeign } from "#api/pages/guards.ts";
import { orThrow, refused } from "#api/http/errors.ts";
import type { PageRouter } from "#api/http/context.ts";
import { queryReader } from "#api/http/validate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { importKinds } from "#src/contract/console.ts";
import { listRuns, startRun } from "#src/import/runs.ts";
import { idText, line } from "#src/operators/inputs.ts";

const shown = 30;
const bytesMax = 50 * 1024 * 1024;
const path = "/console/api/imports";

const asked = Type.Object({
  kind: Type.Union(importKinds.map((kind) => Type.Literal(kind))),
  file: line(1, 200),
  source: Type.Optional(idText(40)),
  replace_source: Type.Optional(Type.Boolean()),
  allow_removals: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
  dry_run: Type.Boolean(),
});

/** Imports of the console, the newest first, with how far they are. */
export const listImportsCall = ({ db }: ConsoleDeps): ConsoleCall =>
  consoleCall("GET", "/imports", { role: "viewer" }, async (ctx) => {
    ctx.body = { imports: await listRuns(db, shown) };
  });

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
    const { allow_removals: allowRemovals } = values as unknown as Asked;
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-import-"));
    const clean = async (): Promise<void> => {
      busy = false;
      await rm(folder, { recursive: true, force: true });
    };
    try {
      // The file's own name stays on the page: its ending is all that a reader looks at.
      const copy = join(folder, `upload${/\.\w{1,10}$/.exec(file)?.[0] ?? ""}`);
      await receive(ctx.req, copy);
      const actor = viewer.account.name;
      const row = { kind, file, source: source ?? null, replace_source, dry_run, actor };
      const id = await startRun(db, row);
      const removals = { replaceSource: replace_source, allowRemovals };
      const task = { kind, path: copy, source, ...removals, dryRun: dry_run };
      runImport(services, { id, actor, file }, task, clean);
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

/** Writes the request's body to the file `copy`; throws a refusal when it is too long or breaks off. */
async function receive(from: IncomingMessage, copy: string): Promise<void> {
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
}
