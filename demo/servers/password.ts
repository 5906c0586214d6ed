import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The password of the server in `folder`: made once, so that clients find a restarted server again. */
export function serverPassword(folder: string): { file: string; password: string } {
  const file = join(folder, "password");
  if (!existsSync(file)) writeFileSync(file, randomBytes(18).toString("hex"), { mode: 0o600 });
  return { file, password: readFileSync(file, "utf8") };
}
