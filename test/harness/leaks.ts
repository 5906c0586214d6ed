interface Held {
  what: string;
  release(): Promise<void> | void;
}

const held = new Set<Held>();

/**
 * Notes something that a test must give back (a process, a database, a server). Call the answer when it is given
 * back; what is still held at the end of the run fails it and is released.
 */
export function hold(what: string, release: Held["release"]): () => void {
  const entry: Held = { what: `${what}, made ${caller()}`, release };
  held.add(entry);
  return () => {
    held.delete(entry);
  };
}

/** Releases whatever is still held. Answers what that was, newest first. */
export async function releaseHeld(): Promise<string[]> {
  const left = [...held].reverse();
  held.clear();
  for (const { release } of left) await release();
  return left.map(({ what }) => what);
}

function caller(): string {
  const frames = (new Error("where").stack ?? "").split("\n");
  const frame = frames.find((line) => line.includes(".test.ts"));
  return frame === undefined ? "by the harness" : frame.trim();
}
