import type { Theme } from "#web/kit/theme.ts";

/** Colours of the map's own layers; the colours of statuses are the page's (web/kit/tokens.css). */
export interface MapColours {
  sea: string;
  land: string;
  coast: string;
  river: string;
  border: string;
  /** Names of regions and countries. */
  region: string;
  town: string;
  label: string;
  halo: string;
}

export const mapColours: Record<Theme, MapColours> = {
  light: {
    sea: "#c9dcec",
    land: "#f6f4ef",
    coast: "#9db9d1",
    river: "#a9c6de",
    border: "#c3b6c4",
    region: "#7b7480",
    town: "#e6dfd2",
    label: "#33424f",
    halo: "#fbfaf7",
  },
  dark: {
    sea: "#0a1520",
    land: "#16212b",
    coast: "#31506b",
    river: "#28496a",
    border: "#4a5468",
    region: "#8591a0",
    town: "#24333f",
    label: "#c3d0da",
    halo: "#101a23",
  },
};

/** Land and sea of the style in which extracts of streets are drawn. */
export const streetColours: Record<Theme, Pick<MapColours, "sea" | "land">> = {
  light: { sea: "#80deea", land: "#e2dfda" },
  dark: { sea: "#31353f", land: "#1f1f1f" },
};

/** A custom property of the page as it is in the theme that is shown. */
export const tokenOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();
