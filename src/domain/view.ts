import type { FuelBlock, Seed, Served, StationState, UnservedStatus } from "#src/domain/state.ts";
import { formatTime } from "#src/domain/time.ts";
import { grades, type ServedStatus } from "#src/domain/vocabulary.ts";

/** Passes the ends of disputes that lie at or before `now` (ms). */
export function settle(state: StationState, now: number): StationState {
  let settled = state;
  while (settled.next !== null && settled.next.at <= now) settled = settled.next.state;
  return settled;
}

const moreDevices = (a: UnservedStatus, b: UnservedStatus): number =>
  b.count - a.count || b.newest.at - a.newest.at || b.newest.id - a.newest.id;

/** The source of the status that a settled state shows at `now` (ms): people's marks, else an import, else neither. */
function shownOf(
  { served, seeded }: StationState,
  now: number,
  lifetimeMs: number,
): { served: Served | null; seed: Seed | null } {
  if (served !== null && now < served.updated + lifetimeMs) return { served, seed: null };
  const isAlive = seeded !== null && now < seeded.updated + lifetimeMs;
  return { served: null, seed: isAlive ? seeded : null };
}

/** Only the status that `view` shows at `now` (ms). */
export function statusAt(folded: StationState, now: number, lifetimeMs: number): ServedStatus {
  const { served, seed } = shownOf(settle(folded, now), now, lifetimeMs);
  return served?.status ?? seed?.status ?? "nodata";
}

/**
 * The answer to reads from a state at `now` (ms): docs/contract.md 2.2, decisions 2 and 6. `lifetimeMs` is the life of
 * a status, a pending version and a price (24 h).
 */
export function view(folded: StationState, now: number, lifetimeMs: number): FuelBlock {
  const state = settle(folded, now);
  const alive = (at: number): boolean => now < at + lifetimeMs;
  const { served, seed } = shownOf(state, now, lifetimeMs);
  const versions = state.versions.filter((version) => alive(version.newest.at)).sort(moreDevices);
  const pending = versions[0];
  const disputed =
    served === null ? undefined : versions.find((version) => version.disputed !== null);
  const prices = state.prices
    .filter((price) => alive(price.from.at))
    .sort((a, b) => grades.indexOf(a.grade) - grades.indexOf(b.grade))
    .map((price) => `${price.grade}=${price.price.toFixed(2)}`)
    .join(",");
  const updated = served?.updated ?? seed?.updated ?? state.lastUpdated;
  const hasFuel = (served?.status ?? seed?.status ?? "no") !== "no";
  const fuelsNow = served?.details.fuelsNow ?? seed?.fuelsNow ?? [];
  const fuelsNo = served?.details.fuelsNo ?? seed?.fuelsNo ?? [];
  return {
    status: served?.status ?? seed?.status ?? "nodata",
    fuels_now: hasFuel ? fuelsNow.join(",") : "",
    fuels_no: fuelsNo.join(","),
    ...(prices !== "" && (served !== null || seed !== null) ? { prices } : {}),
    queue: hasFuel ? (served?.details.queue ?? "") : "",
    limit_l: served?.details.limitL ?? null,
    no_cash: served?.details.noCash ?? false,
    fuel_cards_only: served?.details.fuelCardsOnly ?? false,
    confirmations: served?.confirmations ?? 0,
    real_count: served?.realCount ?? 0,
    seeded: seed !== null,
    updated: updated === null ? "" : formatTime(updated),
    pending_status: pending?.status ?? "",
    pending_count: pending?.count ?? 0,
    resolution_reason: disputed
      ? "conflict"
      : pending
        ? "unconfirmed"
        : served
          ? "published"
          : "no_data",
    conflict: disputed?.disputed
      ? {
          versions: [disputed.disputed.served, disputed.disputed.challenger].map((side) => ({
            status: side.status,
            count: side.count,
            updated: formatTime(side.updated),
          })),
        }
      : null,
  };
}

/** A fuel block with the chance of fuel in front, where it costs fewest bytes packed; the same while it is unknown. */
export const withChance = (fuel: FuelBlock, chance: number | null | undefined): FuelBlock =>
  chance === null || chance === undefined ? fuel : { chance, ...fuel };

/**
 * Instants (ms, ascending) after the state's last step at which `view` changes by the passing of time: expiry of the
 * status, of pending versions and prices, ends of disputes.
 */
export function transitions(folded: StationState, lifetimeMs: number): number[] {
  const found = new Set<number>();
  let from = Number.NEGATIVE_INFINITY;
  for (let state: StationState | null = folded; state !== null;) {
    const until = state.next?.at ?? Number.POSITIVE_INFINITY;
    const ends = [
      state.served?.updated,
      state.seeded?.updated,
      ...state.versions.map((version) => version.newest.at),
      ...state.prices.map((price) => price.from.at),
    ];
    for (const at of ends) {
      const end = (at ?? Number.NaN) + lifetimeMs;
      if (end >= from && end < until) found.add(end);
    }
    if (state.next !== null) found.add(state.next.at);
    from = until;
    state = state.next?.state ?? null;
  }
  return [...found].sort((a, b) => a - b);
}
