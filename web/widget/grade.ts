import { signal } from "@preact/signals";
import { type Grade, parseGrade } from "#src/domain/vocabulary.ts";
import { recall, remember } from "#web/kit/storage.ts";
import { page } from "#web/widget/page.ts";

const stored = "fuel";
const any = "any";

/** The grade that the viewer needs (decisions 15.11); null: any fuel. */
export const grade = signal<Grade | null>(start());

/** The address says it first: a partner has asked for it, or somebody has sent this view. Then the device. */
function start(): Grade | null {
  return page.fuel ?? chosenGrade();
}

/** The grade that was chosen on this device, whatever the address says. */
export function chosenGrade(): Grade | null {
  const kept = recall(stored);
  return kept === null ? null : (parseGrade(kept) ?? null);
}

/** Chooses a grade, or any. The device remembers it, and the address of the operator's own map. */
export function chooseGrade(chosen: Grade | null): void {
  remember(stored, chosen ?? any);
  grade.value = chosen;
  if (!page.isOwnMap) return;
  const address = new URL(location.href);
  if (chosen === null) address.searchParams.delete("fuel");
  else address.searchParams.set("fuel", chosen);
  history.replaceState(history.state, "", address);
}
