import { hash } from "node:crypto";
import { brandKey } from "#src/import/brand-key.ts";
import { brandOfKey, listVersion } from "#src/import/brand-list.ts";
import type { Aliases } from "#src/import/brand-aliases.ts";

export type BrandTable = ReturnType<typeof createBrandTable>;

/** A longer text is no brand: imports cut them at 80 characters. */
const lengthMax = 200;

/**
 * The numbers of the brands of a model's stations, one for each spelling (`foldBrand`), and which of them are one brand
 * by the list and the operator's aliases (decisions 14.26).
 */
export function createBrandTable() {
  const numbers = new Map<string, number>();
  let aliases: Aliases = new Map();
  /** The numbers of each brand; null: not known under these aliases yet. */
  let sameBrand: Map<string, number[]> | null = null;
  let version = versionOf(aliases);

  // Of the folded text, so that two spellings that are compared as equal are always one brand.
  const brandOf = (folded: string): string => {
    const key = folded.length > lengthMax ? "" : brandKey(folded);
    // A text without letters is itself. An alias of no brand leaves the spelling itself.
    return key === "" ? `=${folded}` : brandOfKey(brandKey(aliases.get(key) ?? "") || key);
  };
  const note = (same: Map<string, number[]>, folded: string, number: number): void => {
    const brand = brandOf(folded);
    same.set(brand, [...(same.get(brand) ?? []), number]);
  };

  return {
    /** The number of a spelling; a new one gets the next. */
    numberOf(name: string): number {
      const folded = foldBrand(name);
      const known = numbers.get(folded);
      if (known !== undefined) return known;
      const number = numbers.size;
      numbers.set(folded, number);
      if (sameBrand !== null) note(sameBrand, folded, number);
      return number;
    },
    /** A 1 at the number of each spelling of this brand; null when no station has it. */
    spellingsOf(name: string): Uint8Array | null {
      const folded = foldBrand(name);
      if (sameBrand === null) {
        sameBrand = new Map();
        for (const [spelling, number] of numbers) note(sameBrand, spelling, number);
      }
      const same = sameBrand.get(brandOf(folded));
      if (same === undefined) return null;
      const wanted = new Uint8Array(numbers.size);
      for (const number of same) wanted[number] = 1;
      return wanted;
    },
    /** Takes the operator's aliases in place of those before. */
    learn(fresh: Aliases): void {
      const next = versionOf(fresh);
      if (next === version) return;
      [aliases, version, sameBrand] = [fresh, next, null];
    },
    /** Another text when other aliases or another list may find other stations. */
    version: (): string => version,
  };
}

/** A brand in the form in which it is compared (docs/contract.md 4.1): exact except for case. */
export const foldBrand = (text: string): string => text.normalize("NFC").trim().toLowerCase();

const versionOf = (aliases: Aliases): string =>
  hash("sha1", JSON.stringify([listVersion, ...aliases]), "base64url");
