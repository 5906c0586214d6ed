/** Does the work of a time slot, once; rejects when that failed, and then the next slot tries again. */
export interface SlotDuty {
  (slot: number): Promise<void>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** One slot after the other: each step of a slot is tried, also when one before it failed. */
export function oncePerSlot(steps: readonly ((slot: number) => Promise<void>)[]): SlotDuty {
  let doneSlot = -1;
  let running: Promise<void> = Promise.resolve();

  const runAll = async (slot: number): Promise<void> => {
    const faults: unknown[] = [];
    for (const step of steps) await step(slot).catch((error: unknown) => faults.push(error));
    if (faults.length > 0) throw faults[0];
  };

  const duty = (slot: number): Promise<void> => {
    if (slot <= doneSlot) return running;
    doneSlot = slot;
    running = running.catch(() => {}).then(() => runAll(slot));
    return running;
  };
  return Object.assign(duty, { idle: () => running.catch(() => {}) });
}
