import { signal } from "@preact/signals";
import { recall, remember } from "#web/kit/storage.ts";

/** What is kept of a station until a moment, ms by this device's clock. */
interface Kept {
  untilMs: number;
}

/** Something that this device keeps for single stations, under one name of its storage. Components follow it. */
export function keptByStation<T extends Kept>(name: string) {
  const saved = signal(0);
  const all = (): Record<string, T> => {
    try {
      const known = JSON.parse(recall(name) ?? "{}") as Record<string, T>;
      const now = Date.now();
      return Object.fromEntries(Object.entries(known).filter(([, { untilMs }]) => untilMs > now));
    } catch {
      return {};
    }
  };
  const save = (kept: Record<string, T> | null): void => {
    remember(name, kept === null ? null : JSON.stringify(kept));
    saved.value += 1;
  };
  return {
    /** Null when there is nothing, or nothing any more. */
    of(stationId: string): T | null {
      void saved.value;
      return all()[stationId] ?? null;
    },
    keep: (stationId: string, kept: T): void => save({ ...all(), [stationId]: kept }),
    drop(stationId: string): void {
      const { [stationId]: _dropped, ...others } = all();
      save(others as Record<string, T>);
    },
    forget: (): void => save(null),
  };
}
