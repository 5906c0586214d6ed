import { spawn } from "node:child_process";

/**
 * Builds the pages of web/ unless they are up to date. Throws with the builder's words when that fails.
 */
export async function buildPages(log: (line: string) => void): Promise<void> {
  const args = ["--import", "tsx", "web/build/main.ts", "--if-changed"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const code = await new Promise((done) => child.once("close", done));
  if (code !== 0) throw new Error(`the pages could not be built:\n${output}`);
  if (output.trim() !== "") log(output.trim());
}
