import crypto from "node:crypto";
import { appendFileSync, mkdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join, relative, sep } from "node:path";
import fc from "fast-check";
import Mocha from "mocha";
import { currentPoll, type Poll } from "#test/harness/polls.ts";
import type { RawExchange } from "#test/record/recording.ts";
import { tapSockets } from "#test/record/tap.ts";

// Loaded into mocha's processes by `npm run record` alone (--require): writes down what the tests ask of servers and
// what they are answered, as bytes. Several processes may write: each has a file of its own.

const folder = process.env.RECORD_TO;
if (folder === undefined) throw new Error("RECORD_TO says where to record to");
mkdirSync(folder, { recursive: true });
const file = join(folder, `${process.pid}.jsonl`);

let current = { file: "", title: "" };

// The same requests each time, of the fuzzer and of every other property …
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_260_131 });

// … and the same keys in them: the fuzzer spoils bytes of a request wherever they are. Names of databases are shorter.
const keyBytes = 32;
const { randomBytes } = crypto;
const drawn = new Map<string, number>();
const sameBytes = (size: number, ...more: unknown[]): Buffer => {
  if (size !== keyBytes || more.length > 0)
    return Reflect.apply(randomBytes, crypto, [size, ...more]) as Buffer;
  const count = (drawn.get(current.file) ?? 0) + 1;
  drawn.set(current.file, count);
  return crypto.createHash("sha256").update(`${current.file} ${count}`).digest();
};
Object.assign(crypto, { randomBytes: sameBytes });
syncBuiltinESMExports();

let lines: string[] = [];
const write = (): void => {
  if (lines.length > 0) appendFileSync(file, lines.join(""));
  lines = [];
};

const tap = tapSockets(
  () => ({ ...current, poll: copyOf(currentPoll()) }),
  ({ owner, sent, heard, ...rest }) => {
    const raw: RawExchange = {
      ...owner,
      ...rest,
      sent: sent.toString("base64"),
      heard: heard.toString("base64"),
    };
    lines.push(`${JSON.stringify(raw)}\n`);
    if (lines.length >= 500) write();
  },
);
const flush = (): void => {
  tap.flush();
  write();
};

// A root hook would run too late to tell whose `before` sends a request.
const { run } = Mocha.Runnable.prototype;
Mocha.Runnable.prototype.run = function runOwned(this: Mocha.Runnable, ...args) {
  current = { file: fileOf(this), title: titleOf(this) };
  run.apply(this, args);
};

export const mochaHooks = { afterAll: flush };
process.on("exit", flush);

const copyOf = (poll: Poll | null): Poll | null => (poll === null ? null : { ...poll });

const fileOf = (runnable: Mocha.Runnable): string =>
  relative(process.cwd(), runnable.file ?? runnable.parent?.file ?? "").replaceAll(sep, "/");

/** Hooks around one test belong to it; those around several have a place of their own. */
function titleOf(runnable: Mocha.Runnable): string {
  const [, when, what] = /^"(before|after) (each|all)" hook/.exec(runnable.title) ?? [];
  if (what === "each") return runnable.ctx?.currentTest?.fullTitle() ?? runnable.fullTitle();
  if (what === "all") return `${runnable.parent?.fullTitle() ?? ""} (${when} all)`;
  return runnable.fullTitle();
}
