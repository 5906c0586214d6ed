import { signal } from "@preact/signals";

export interface Target {
  lat: number;
  lon: number;
  zoom: number;
}

/** What the page around the map may ask of it. */
export interface MapHandle {
  go(target: Target): void;
  zoomBy(levels: number): void;
  /** Keeps these edges free of what is looked at, pixels. */
  pad(padding: { top: number; left: number; right: number; bottom: number }): void;
  /** Brings a station into view that is outside. */
  show(at: { lat: number; lon: number }): void;
}

/** The map once it is there; it never is without WebGL. */
export const map = signal<MapHandle | null>(null);
