import type { Content } from "#src/domain/sentinel.ts";
import type { Follower } from "#src/feed/follower.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Peers } from "#src/infrastructure/peers.ts";
import type { ReadModel } from "#snapshots/model/model.ts";

/** Number of moments whose counts of known stations are remembered: a minute, and the one before it. */
const remembered = 7;

/**
 * Makes the process tell its peers the content that its model served at the last common moment (decisions 21.37). A
 * moment during the reading of changes is passed over.
 */
export function tellContent({
  peers,
  model,
  follower,
  clock,
}: {
  peers: Peers;
  model: ReadModel;
  follower: Pick<Follower, "isSettled" | "seq">;
  clock: Clock;
}): void {
  let content: Content | null = null;
  let recent: number[] = [];
  model.watchMoments(({ count, sum, known }, asOfMs) => {
    if (!follower.isSettled()) return;
    const seq = follower.seq();
    recent = [...recent, known].slice(-remembered);
    const isSame = content?.seq === seq && content.count === count && content.sum === sum;
    const sinceMs = isSame ? content!.sinceMs : asOfMs;
    content = { seq, count, sum, sinceMs, asOfMs, known, mostKnown: Math.max(...recent) };
  });
  peers.tell(() => {
    model.drain(clock());
    return { content };
  });
}
