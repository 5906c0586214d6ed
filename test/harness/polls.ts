/** A test that asks again until something has happened, and how often it has asked. */
export interface Poll {
  id: number;
  round: number;
}

const running = new Set<Poll>();
let begun = 0;

/** Call it before the first round, and `endPoll` after the last. */
export function beginPoll(): Poll {
  begun += 1;
  const poll = { id: begun, round: 1 };
  running.add(poll);
  return poll;
}

export const endPoll = (poll: Poll): void => void running.delete(poll);

/** The poll begun last of those that go on; null when there is none. */
export const currentPoll = (): Poll | null => [...running].at(-1) ?? null;
