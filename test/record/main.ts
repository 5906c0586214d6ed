import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { compareRecordings } from "#test/record/compare.ts";
import { keep, readRaw, readRecording, writeRecording } from "#test/record/recording.ts";
import { report } from "#test/record/report.ts";

/** Tests whose requests are recorded: who may call what, the contract, marks, the pages behind a session, the fuzzer. */
const recordedTests = (): string[] => [
  ...["auth-matrix", "mark", "dashboard", "console"].map((name) => `test/flow/${name}.test.ts`),
  ...readdirSync("test/api")
    .filter((name) => name.endsWith(".test.ts") && !notOfTheService.has(name))
    .map((name) => `test/api/${name}`),
  "test/fuzz/fuzz.test.ts",
];
/** Asks servers of its own. */
const notOfTheService = new Set(["watched.test.ts"]);
const root = join(".data", "recordings");

const program = new Command("record")
  .description(
    "Records every answer of the tests' requests, and compares two recordings. What differs by right (ids, moments, keys) is masked.",
  )
  .helpCommand(false)
  .exitOverride()
  .addHelpText(
    "after",
    `
Examples:
  npm run record -- before
  npm run record -- after test/api/keys.test.ts
  npm run record -- compare before after

Recordings lie in ${root}/NAME. Exit codes: 0 recorded, or equal; 1 some test failed, or different; 2 wrong usage.`,
  );
program
  .command("make", { isDefault: true })
  .usage("<name> [files...]")
  .description("run the tests and keep what they are answered (the word `make` may be left out)")
  .argument("<name>", "of the recording; an old one of this name is replaced", name)
  .argument(
    "[files...]",
    "of tests; without: the matrix, the contract, marks, dashboard and console, the fuzzer",
  )
  .option("--fuzz <n>", "how many requests the fuzzer draws", "600")
  .action(async (recording: string, files: string[], { fuzz }: { fuzz: string }) => {
    const lost = files.find((file) => !existsSync(file));
    if (lost !== undefined) throw new Error(`no file ${lost}`);
    process.exitCode = await record(recording, files, fuzz);
  });
program
  .command("compare")
  .description("tell what is answered otherwise in <b> than in <a>")
  .argument("<a>", "the older recording", name)
  .argument("<b>", "the newer one", name)
  .option("--most <n>", "kinds of difference to show", "20")
  .action((a: string, b: string, { most }: { most: string }) => {
    const comparison = compareRecordings(load(a), load(b));
    console.log(report(comparison, Number(most)));
    process.exitCode = comparison.differences.length === 0 ? 0 : 1;
  });
try {
  await program.parseAsync();
} catch (error) {
  const { exitCode } = error as { exitCode?: number };
  if (exitCode === undefined) console.error((error as Error).message);
  process.exitCode = exitCode === 0 ? 0 : 2;
}

function name(text: string): string {
  if (!/^[\w.-]+$/.test(text) || /^\.+$/.test(text) || text === "compare")
    throw new InvalidArgumentError("A name is of letters, digits, dots and dashes.");
  return text;
}

function load(recording: string) {
  const folder = join(root, recording);
  if (!existsSync(folder)) throw new Error(`no recording ${recording} in ${root}`);
  return readRecording(folder);
}

async function record(recording: string, files: string[], fuzz: string): Promise<number> {
  const tests = files.length > 0 ? files : recordedTests();
  const folder = join(root, recording);
  const raw = join(folder, "raw");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(raw, { recursive: true });
  const passed = await runTests(tests, { RECORD_TO: raw, FUZZ_REQUESTS: fuzz });
  const kept = keep(readRaw(raw));
  writeRecording(folder, kept);
  writeFileSync(join(folder, "about.json"), `${JSON.stringify({ tests, fuzz, passed })}\n`);
  rmSync(raw, { recursive: true });
  const answers = kept.reduce((sum, one) => sum + one.answers.length, 0);
  console.log(`${answers} answers to ${kept.length} requests recorded in ${folder}`);
  if (!passed) console.error("Some test failed: its requests may be incomplete.");
  return passed ? 0 : 1;
}

/** Runs these files as `npm test` does. Answers whether all passed. */
function runTests(tests: readonly string[], env: Record<string, string>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const flags = ["--require=./test/record/recorder.ts"];
    const child = spawn(process.execPath, ["demo/test.mjs", ...tests, ...flags], {
      stdio: "inherit",
      env: { ...process.env, ...env },
    });
    // What was recorded by then is kept.
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.on(signal, () => void child.kill(signal));
    child.once("error", reject);
    child.once("exit", (code) => resolve(code === 0));
  });
}
