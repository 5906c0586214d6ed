import { effect } from "@preact/signals";
import { theme } from "#web/kit/theme.ts";
import { accentIn, rgbOf } from "#web/widget/accent.ts";

/** Paints buttons and choices in the partner's colour, in the theme that is shown. */
export function startAccent(hex: string | null): void {
  if (hex === null) return;
  effect(() => {
    const { accent, text, soft } = accentIn(theme.value, rgbOf(hex));
    const { style } = document.documentElement;
    for (const [name, colour] of [
      ["--accent", accent],
      ["--focus", accent],
      ["--accent-text", text],
      ["--accent-soft", soft],
    ] as const)
      style.setProperty(name, `rgb(${colour.join(" ")})`);
  });
}
