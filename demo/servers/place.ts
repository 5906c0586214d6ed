import { createHash } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { run } from "#demo/servers/command.ts";
import { identities, type Identity } from "#demo/servers/identity.ts";

/** A folder for a server's data and the identity that can use it. */
export interface Place {
  folder: string;
  identity: Identity;
  /** Where binaries can be copied to when the identity cannot read them where they are. */
  copies: string;
}

/**
 * Finds who can run the server on `wanted`. When nobody can, because it lies under a folder closed to all but
 * root, the data goes to another place, always the same for the same `wanted`.
 * Throws when there is none, with a sentence for the user.
 */
export async function findPlace(wanted: string): Promise<Place> {
  const key = createHash("sha256").update(wanted).digest("hex").slice(0, 12);
  const elsewhere = [join("/var/lib/fuelmark", key), join(tmpdir(), `fuelmark-${key}`)];
  const candidates = await identities([wanted, ...ancestors(wanted)]);
  for (const identity of candidates) {
    if (await canUse(wanted, identity)) {
      return { folder: wanted, identity, copies: join(elsewhere[0] ?? "", "copies") };
    }
  }
  if (process.getuid?.() === 0) {
    for (const parent of elsewhere) {
      for (const identity of candidates) {
        const folder = join(parent, "data");
        if (await canUse(folder, identity)) {
          return { folder, identity, copies: join(parent, "copies") };
        }
      }
    }
  }
  throw new Error(
    `${wanted} cannot be written: it may belong to another user. Run this as that user, or remove the folder.`,
  );
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [] : [parent, ...ancestors(parent)];
}

async function canUse(folder: string, identity: Identity): Promise<boolean> {
  try {
    if (mkdirSync(folder, { recursive: true }) !== undefined) chmodSync(dirname(folder), 0o755);
    // A folder with data in it keeps its owner: another identity is the right one for it.
    if (identity.owner !== null && readdirSync(folder).length === 0) {
      chownSync(folder, identity.owner.uid, identity.owner.gid);
    }
  } catch {
    return false;
  }
  if (process.platform === "win32") return true;
  const test = 'cd / && cd "$1" && test -w . && test -O .';
  return (await run("sh", ["-c", test, "sh", folder], { identity })).ok;
}
