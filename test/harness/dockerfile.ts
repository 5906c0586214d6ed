import { spawn } from "node:child_process";
import { chownSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** A stage of a Dockerfile, as far as it was done: its `/` is a folder. */
export interface Stage {
  root: string;
  env: Record<string, string>;
  user: string;
  /** Of CMD and HEALTHCHECK. */
  command: string[];
  health: string[];
}

/** An ordinary user of this machine, who does the steps instead of root. */
export interface StepUser {
  uid: number;
  gid: number;
  home: string;
}

/**
 * Does the steps of the Dockerfile in `folder`, without a container: each stage is a folder, and an image that is not a
 * stage is this machine. Answers the last stage. Throws when a step fails or is of a kind that this does not know.
 */
export async function doDockerfile(folder: string, by: StepUser): Promise<Stage> {
  const stages = new Map<string, Stage>();
  const ignored = readFileSync(".dockerignore", "utf8").split("\n").filter(Boolean).map(patternOf);
  let stage: Stage | undefined;
  for (const line of stepsOf(readFileSync("Dockerfile", "utf8"))) {
    const [, kind = "", rest = ""] = /^(\w+)\s+(.*)$/s.exec(line) ?? [];
    if (kind === "FROM") {
      const [, image = "", name = `stage-${stages.size}`] =
        /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? [];
      stage = startStage(join(folder, name), stages.get(image));
      chownSync(stage.root, by.uid, by.gid);
      stages.set(name, stage);
      continue;
    }
    if (stage === undefined) throw new Error(`before FROM: ${line}`);
    if (kind === "WORKDIR") stage.env["PWD"] = makeFolder(join(stage.root, rest), by);
    else if (kind === "ENV") Object.assign(stage.env, Object.fromEntries([rest.split("=")]));
    else if (kind === "COPY") copy(rest, stage, stages, ignored, by);
    else if (kind === "RUN") await runStep(rest.replace(/^--mount=\S+ /, ""), stage, by);
    else if (kind === "USER") stage.user = rest;
    else if (kind === "CMD") stage.command = JSON.parse(rest) as string[];
    else if (kind === "HEALTHCHECK")
      stage.health = JSON.parse(/CMD (\[.*\])$/s.exec(rest)?.[1] ?? "[]") as string[];
    else if (kind !== "EXPOSE") throw new Error(`a step of an unknown kind: ${line}`);
  }
  if (stage === undefined) throw new Error("no stage");
  return stage;
}

const stepsOf = (text: string): string[] =>
  text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");

function startStage(root: string, from: Stage | undefined): Stage {
  if (from === undefined) mkdirSync(root, { recursive: true });
  else cpSync(from.root, root, { recursive: true });
  const env = { ...from?.env };
  if (from !== undefined) env["PWD"] = join(root, relative(from.root, from.env["PWD"] ?? ""));
  return { root, env, user: from?.user ?? "root", command: [], health: [] };
}

function makeFolder(path: string, { uid, gid }: StepUser): string {
  mkdirSync(path, { recursive: true });
  chownSync(path, uid, gid);
  return path;
}

function copy(
  rest: string,
  stage: Stage,
  stages: ReadonlyMap<string, Stage>,
  ignored: readonly RegExp[],
  by: StepUser,
): void {
  const words = rest.split(/\s+/);
  const from = words[0]?.startsWith("--from=") === true ? words.shift()!.slice(7) : null;
  const source = from === null ? null : stages.get(from);
  if (source === undefined) throw new Error(`COPY from an unknown stage: ${rest}`);
  const target = words.pop() ?? "";
  const filter = (path: string): boolean =>
    source !== null || !ignored.some((pattern) => pattern.test(relative(".", path)));
  for (const word of words) {
    const path = source === null ? resolve(word) : join(source.root, word);
    // As Docker does: the content of a folder, and a file into a target that ends with a slash.
    const isInto = target.endsWith("/") && !lstatSync(path).isDirectory();
    const to = resolve(stage.env["PWD"]!, target, isInto ? path.split("/").at(-1)! : "");
    mkdirSync(dirname(to), { recursive: true });
    cpSync(path, to, { recursive: true, filter, verbatimSymlinks: true });
  }
  own(stage.env["PWD"]!, by.uid, by.gid);
}

/** Gives a folder and all in it to a user. */
export function own(path: string, uid: number, gid: number): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return;
  chownSync(path, uid, gid);
  if (found.isDirectory()) for (const name of readdirSync(path)) own(join(path, name), uid, gid);
}

function runStep(command: string, stage: Stage, by: StepUser): Promise<void> {
  return new Promise((done, failed) => {
    const child = spawn("sh", ["-ec", command], {
      cwd: stage.env["PWD"],
      env: { PATH: process.env["PATH"], HOME: by.home, ...stage.env },
      uid: by.uid,
      gid: by.gid,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece: Buffer) => (output += piece.toString()));
    child.once("error", failed);
    child.once("close", (code) =>
      code === 0 ? done() : failed(new Error(`code ${code} of ${command}\n${output.slice(-4000)}`)),
    );
  });
}

/** A line of .dockerignore: the path itself and all below it. */
function patternOf(line: string): RegExp {
  const parts = line
    .split("/")
    .map((part) =>
      part === "**" ? "(?:.*/)?" : `${part.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}/`,
    );
  return new RegExp(`^${parts.join("").replace(/\/$/, "")}(?:/|$)`);
}
