import type { Station } from "#web/widget/api.ts";
import { words } from "#web/widget/words.ts";

/** What a station is called: its name, else its brand. */
export const stationName = ({ name, brand }: Pick<Station, "name" | "brand">): string =>
  name || brand || words.unnamed;
