type Theme = "light" | "dark";

/** A colour as red, green and blue, 0 to 255 each. */
export type Rgb = readonly [number, number, number];

export interface Accent {
  accent: Rgb;
  /** The colour of letters on the accent. */
  text: Rgb;
  /** The colour behind letters of the page's own colour. */
  soft: Rgb;
}

/** Grounds of accents: the lightest of a dark page, the darkest of a light one (web/kit/tokens.css). */
const grounds: Record<Theme, Rgb> = { light: [244, 246, 248], dark: [28, 38, 48] };
const texts: Record<Theme, Rgb> = { light: [255, 255, 255], dark: [6, 25, 43] };
const away: Record<Theme, Rgb> = { light: [0, 0, 0], dark: [255, 255, 255] };
const softShare: Record<Theme, number> = { light: 0.12, dark: 0.2 };
const contrastMin = 4.5;
const step = 0.02;

/**
 * The colours of a partner's accent in a theme: its own as far as letters stay readable (WCAG 2.2, 4.5 to 1), else as
 * much darker or lighter as that needs.
 */
export function accentIn(which: Theme, wanted: Rgb): Accent {
  const ground = grounds[which];
  const text = texts[which];
  for (let share = 0; ; share += step) {
    const accent = mix(wanted, away[which], Math.min(share, 1));
    const soft = mix(ground, accent, softShare[which]);
    const readable = [ground, soft, text].every((other) => contrast(accent, other) >= contrastMin);
    if (readable || share >= 1) return { accent, text, soft };
  }
}

/** @param hex six digits */
export const rgbOf = (hex: string): Rgb => [
  Number.parseInt(hex.slice(0, 2), 16),
  Number.parseInt(hex.slice(2, 4), 16),
  Number.parseInt(hex.slice(4, 6), 16),
];

const mix = (from: Rgb, to: Rgb, share: number): Rgb => [
  Math.round(from[0] + (to[0] - from[0]) * share),
  Math.round(from[1] + (to[1] - from[1]) * share),
  Math.round(from[2] + (to[2] - from[2]) * share),
];

/** The contrast ratio, 1 to 21, by WCAG 2.2. */
export function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [
    number,
    number,
  ];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
