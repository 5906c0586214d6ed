import { spawn } from "node:child_process";

export interface Building {
  /** Rejects with the builder's words when it fails or is stopped. */
  done: Promise<void>;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** Builds the roles or the pages, unless they are up to date, in a process of its own. */
export function startBuild(what: "roles" | "pages", log: (line: string) => void): Building {
  const args = ["--import", "tsx", "demo/build.ts", what, "--if-changed"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const closed = new Promise<number | null>((done) => child.once("close", done));
  const done = closed.then((code) => {
    if (code !== 0) throw new Error(`the ${what} could not be built:\n${output}`);
    if (output.trim() !== "") log(output.trim());
  });
  // Whoever waits for it comes later.
  done.catch(() => {});
  return {
    done,
    stop: async () => {
      child.kill("SIGTERM");
      await closed;
    },
  };
}
