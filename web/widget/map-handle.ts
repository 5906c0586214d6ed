import { signal } from "@preact/signals";

/** The map goes no farther out. */
export const minZoom = 2.5;

export interface Target {
  lat: number;
  lon: number;
  zoom: number;
}

/** Acts that the page may ask of the map. */
export interface MapHandle {
  go(target: Target): void;
  /** The same at once, without a flight. */
  jump(target: Target): void;
  /** Shows all of these points in the part that the open panel leaves free. */
  fit(points: readonly { lat: number; lon: number }[]): void;
  /** The middle of that part. */
  middle(): { lat: number; lon: number };
  zoomBy(levels: number): void;
  /**
   * Brings a point into the part of the map that the open panel leaves free, if it is not there already; `near` also so
   * near that streets can be told apart.
   */
  reveal(at: { lat: number; lon: number }, near: boolean): void;
}

/** The map once it is there; it never is without WebGL. */
export const map = signal<MapHandle | null>(null);
