import { keptByStation } from "#web/widget/kept-by-station.ts";

/** Times at which this device marked a station, and may mark it again; ms by its own clock. */
export interface Cooldown {
  atMs: number;
  untilMs: number;
}

/** The cooldowns of this device (decisions 15.37); one ends when its mark is taken back (15.36). */
export const cooldowns = keptByStation<Cooldown>("cooldowns");

/** Notes a mark that the service took, which starts the cooldown. */
export const noteTaken = (stationId: string, cooldownS: number): void => {
  const atMs = Date.now();
  cooldowns.keep(stationId, { atMs, untilMs: atMs + cooldownS * 1000 });
};

/** Notes the cooldown that a refusal tells: the service knows marks that this device has forgotten. */
export function noteRefused(stationId: string, retryAfterS: number, cooldownS: number): void {
  const known = cooldowns.of(stationId);
  const untilMs = Math.max(Date.now() + retryAfterS * 1000, known?.untilMs ?? 0);
  cooldowns.keep(stationId, { atMs: known?.atMs ?? untilMs - cooldownS * 1000, untilMs });
}
