import { signal } from "@preact/signals";
import { type Grade, parseGrade } from "#src/domain/vocabulary.ts";
import { recall, remember } from "#web/kit/storage.ts";
import { page } from "#web/widget/page.ts";

const stored = "fuel";
const any = "any";

/** The grade that the viewer needs (docs/decisions.md 15.11); null: any fuel. */
export const grade = signal<Grade | null>(start());

/**
 * On a page of its own the address says it, which may have come from somebody else, then the device. In a frame the
 * address is the same for all, and what this viewer has chosen comes first.
 */
function start(): Grade | null {
  const kept = recall(stored);
  const own = kept === null ? undefined : (parseGrade(kept) ?? null);
  return page.framed ? (own === undefined ? page.fuel : own) : (page.fuel ?? own ?? null);
}

/** Chooses a grade, or any; device and address remember it. */
export function chooseGrade(chosen: Grade | null): void {
  grade.value = chosen;
  remember(stored, chosen ?? any);
  const address = new URL(location.href);
  if (chosen === null) address.searchParams.delete("fuel");
  else address.searchParams.set("fuel", chosen);
  history.replaceState(history.state, "", address);
}
