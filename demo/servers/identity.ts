import { lstatSync } from "node:fs";
import { run } from "#demo/servers/command.ts";

/** Under which user a server process runs; Postgres refuses to run as root. */
export interface Identity {
  name: string;
  /** The owner that the server's files must have; null leaves them as they are. */
  owner: { uid: number; gid: number } | null;
  wrap(
    file: string,
    args: readonly string[],
  ): { file: string; args: string[]; as: { uid?: number; gid?: number } };
}

/**
 * The identities worth trying, best first. Only root has a choice: the owner of the data or of the project when
 * that is somebody else, then root itself seen as uid 1000 in a user namespace, then nobody.
 *
 * @param folders existing or future folders whose owners come first, most telling first
 */
export async function identities(folders: readonly string[]): Promise<Identity[]> {
  if (process.getuid?.() !== 0) return [self];
  const owners = folders.flatMap((folder) => {
    const owner = lstatSync(folder, { throwIfNoEntry: false });
    return owner === undefined || owner.uid === 0 ? [] : [user(owner.uid, owner.gid)];
  });
  const mapped = (await run(unshare.file, [...unshare.args, "true"])).ok ? [namespace] : [];
  return [...owners, ...mapped, user(65534, 65534)];
}

const self: Identity = {
  name: "the current user",
  owner: null,
  wrap: (file, args) => ({ file, args: [...args], as: {} }),
};

const unshare = { file: "unshare", args: ["--user", "--map-user=1000", "--map-group=1000"] };

const namespace: Identity = {
  name: "root in a user namespace",
  owner: { uid: 0, gid: 0 },
  wrap: (file, args) => ({ file: unshare.file, args: [...unshare.args, file, ...args], as: {} }),
};

const user = (uid: number, gid: number): Identity => ({
  name: `uid ${uid}`,
  owner: { uid, gid },
  wrap: (file, args) => ({ file, args: [...args], as: { uid, gid } }),
});
