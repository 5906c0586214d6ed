import type { Station } from "#web/widget/api.ts";
import { words } from "#web/widget/words.ts";

/** The name to show for a station: its name, else its brand. */
export const stationName = ({ name, brand }: Pick<Station, "name" | "brand">): string =>
  name || brand || words.unnamed;

/** The brand, unless the name says it already. */
export const brandBeside = ({ name, brand }: Pick<Station, "name" | "brand">): string =>
  name === "" || fold(name).includes(fold(brand)) ? "" : brand;

const fold = (text: string): string => text.toLowerCase().replaceAll("ё", "е");
