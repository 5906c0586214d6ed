import type { FuelBlock } from "#src/domain/state.ts";
import type { Fading } from "#web/widget/age.ts";

// The look of the map, the same in the map library's drawing and in the sketch before it.

/** Width of a station's sign, pixels; stations without a known status are smaller. */
export const stationPx = 30;
export const noDataPx = 22;
/** Diameter of a cluster's ring by its size class, pixels. */
export const ringsPx = [38, 44, 52, 60] as const;
export const ringWidthPx = 6;
/** A gap between a ring's parts, radians, so that they are told apart without colour. */
export const ringGap = 0.05;
/** The number of steps in which a ring shows a status's share. */
export const ringSteps = 16;

/** Signs are smaller where much is in sight: from the first zoom at that size to the second at full size. */
export const signGrowth = { from: 8, size: 0.7, to: 13 } as const;

/**
 * The part of a sign's colour that is left at each fading. Below a half the sign is an empty shape, whose rim and mark
 * keep the colour: a paler one could not be told from the ground.
 */
export const filled: Record<Fading, number> = { 0: 1, 1: 0.8, 2: 0.15, 3: 0 };

/** The badge on a station's sign: a mark that waits for confirmation, a dispute, or nothing. */
export type Badge = "pending" | "conflict" | "";

export const badgeOf = ({
  conflict,
  pending_status: pending,
}: Pick<FuelBlock, "conflict" | "pending_status">): Badge =>
  conflict !== null ? "conflict" : pending === "" ? "" : "pending";

/** Radius of a town's soft patch at zoom 0, pixels for each root of its people: 9 m, where most of a country's live. */
export const townPxPerRoot = 9 / 47_000;
