import { signal } from "@preact/signals";
import { recall, remember } from "#web/kit/storage.ts";

const name = "cooldowns";
/** Changes with every save, so that components show cooldowns anew. */
const saved = signal(0);

/** Times at which this device marked a station, and may mark it again; ms by its own clock. */
export interface Cooldown {
  atMs: number;
  untilMs: number;
}

/** Notes a mark that the service took, which starts the cooldown (decisions 15.37). */
export const noteTaken = (stationId: string, cooldownS: number): void => {
  const atMs = Date.now();
  save(stationId, { atMs, untilMs: atMs + cooldownS * 1000 });
};

/** Notes the cooldown that a refusal tells: the service knows marks that this device has forgotten. */
export function noteRefused(stationId: string, retryAfterS: number, cooldownS: number): void {
  const known = running()[stationId];
  const untilMs = Math.max(Date.now() + retryAfterS * 1000, known?.untilMs ?? 0);
  save(stationId, { atMs: known?.atMs ?? untilMs - cooldownS * 1000, untilMs });
}

/** The cooldown of this device at that station; null when there is none. */
export function cooldownOf(stationId: string): Cooldown | null {
  void saved.value;
  return running()[stationId] ?? null;
}

/** The mark that started it was taken back (decisions 15.36). */
export function endCooldown(stationId: string): void {
  const { [stationId]: _ended, ...others } = running();
  remember(name, JSON.stringify(others));
  saved.value += 1;
}

/** Forgets all of them, with the device. */
export function forgetCooldowns(): void {
  remember(name, null);
  saved.value += 1;
}

function save(stationId: string, cooldown: Cooldown): void {
  remember(name, JSON.stringify({ ...running(), [stationId]: cooldown }));
  saved.value += 1;
}

function running(): Record<string, Cooldown> {
  try {
    const known = JSON.parse(recall(name) ?? "{}") as Record<string, Cooldown>;
    const now = Date.now();
    return Object.fromEntries(Object.entries(known).filter(([, { untilMs }]) => untilMs > now));
  } catch {
    return {};
  }
}
