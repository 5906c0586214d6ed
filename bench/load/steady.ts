import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, openConnection } from "#bench/load/connection.ts";

const lookEveryMs = 5;

/** Calls `one` so many times a second, whether the calls before are over or not. Resolves when all of them are. */
export async function steadily(
  perSecond: number,
  seconds: number,
  one: (n: number) => Promise<void>,
): Promise<void> {
  const total = Math.round(perSecond * seconds);
  const work: Promise<void>[] = [];
  const startedAt = performance.now();
  while (work.length < total) {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond);
    while (work.length < Math.min(due, total)) work.push(one(work.length));
    await sleep(lookEveryMs);
  }
  await Promise.all(work);
}

/** As many connections as are needed at once. */
export function openPool(port: number): { send: Connection["send"]; close(): void } {
  const all: Connection[] = [];
  const idle: Connection[] = [];
  return {
    send: async (request) => {
      let one = idle.pop();
      if (one === undefined) all.push((one = await openConnection("127.0.0.1", port)));
      const answer = await one.send(request);
      idle.push(one);
      return answer;
    },
    close: () => all.forEach((one) => one.close()),
  };
}
