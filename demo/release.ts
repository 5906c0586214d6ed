import { readProcfile, spawnRole } from "#demo/roles.ts";

/** Runs the release role to its end. Throws with its output when it fails. */
export async function release(env: Record<string, string>): Promise<void> {
  const command = readProcfile().get("release");
  if (command === undefined) throw new Error("no release role in the Procfile");
  const child = spawnRole(command, { ...process.env, ...env });
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise((done) => child.once("close", done));
  if (code !== 0) throw new Error(`the release role failed:\n${output}`);
}
