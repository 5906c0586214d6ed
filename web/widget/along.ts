import { signal } from "@preact/signals";
import { distanceM, type Point } from "#src/domain/geo.ts";
import { answerFor, hasFuel } from "#src/domain/grade-answer.ts";
import { boxOf, measureFrom, stretchesOf } from "#src/domain/way.ts";
import { ask, type Station } from "#web/widget/api.ts";
import { grade } from "#web/widget/grade.ts";
import { map } from "#web/widget/map-handle.ts";
import { boxesOf, nameOf } from "#web/widget/rectangles.ts";

/** A station beside the way: metres from its beginning, and from its line. */
export interface Beside {
  station: Station;
  atM: number;
  offM: number;
}

/** The end of a way. */
export interface Goal extends Point {
  name: string;
}

export type Along =
  | { kind: "asking" }
  | { kind: "looking" }
  | { kind: "offline" | "unavailable" }
  | { kind: "too-long"; km: number }
  | { kind: "found"; km: number; stations: Beside[] };

/** How far aside a driver goes, km. */
export const asideKm = [2, 5, 15] as const;
export const aside = signal<(typeof asideKm)[number]>(5);
/** Between these the driver goes; it stays while a card lies on the list. */
export const way = signal<{ from: Point; isOwn: boolean; to: Goal } | null>(null);
export const along = signal<Along>({ kind: "asking" });

const longestKm = 1000;
/** Most rectangles that are asked for, and the shortest piece of the way in one of them. */
const [piecesMax, pieceM] = [12, 25_000];
let turn = 0;

/** Looks for stations with the viewer's fuel beside the straight line; there is no routing (decisions 15.48). */
export async function lookAlong(): Promise<void> {
  const mine = (turn += 1);
  const between = way.peek();
  if (between === null) return;
  const { from, to } = between;
  const lengthM = distanceM(from, to);
  const km = Math.round(lengthM / 1000);
  if (km > longestKm) {
    along.value = { kind: "too-long", km };
    return;
  }
  along.value = { kind: "looking" };
  const bufferM = aside.peek() * 1000;
  const wanted = grade.peek();
  const parts = [...stretchesOf([from, to], Math.max(pieceM, lengthM / piecesMax))].flatMap(
    (piece) => boxesOf(boxOf(piece, bufferM)).map((box) => ({ box, measure: measureFrom(piece) })),
  );
  const answers = await Promise.all(
    parts.map(({ box }) =>
      ask<{ stations: Station[] }>(`/stations?bbox=${nameOf(box)}&status=yes,low,queue`),
    ),
  );
  if (mine !== turn) return;
  const found = new Map<string, Beside>();
  for (const [n, { measure }] of parts.entries()) {
    const told = answers[n]!;
    if (told.kind !== "ok") {
      along.value = { kind: told.kind === "offline" ? "offline" : "unavailable" };
      return;
    }
    for (const station of told.body.stations) {
      if (!hasFuel(answerFor(station.fuel, wanted))) continue;
      const { atM, offM } = measure(station.lat, station.lon);
      if (offM <= bufferM && offM < (found.get(station.id)?.offM ?? Infinity))
        found.set(station.id, { station, atM, offM });
    }
  }
  const stations = [...found.values()].sort((a, b) => a.atM - b.atM);
  along.value = { kind: "found", km, stations };
  map.peek()?.fit([from, to]);
}
