import { foldText } from "#src/contract/fold-text.ts";
import type { Station } from "#web/widget/api.ts";
import { words } from "#web/widget/words.ts";

/** The name to show for a station: its name, else its brand, else where it is. */
export const stationName = ({
  name,
  brand,
  addr = "",
}: Pick<Station, "name" | "brand"> & { addr?: string }): string =>
  name || brand || addr || words.unnamed;

/** Its address, unless that is the name. */
export const addressBeside = ({ name, brand, addr }: Pick<Station, "name" | "brand" | "addr">) =>
  name || brand ? addr : "";

/** The brand, unless the name says it already. */
export const brandBeside = ({ name, brand }: Pick<Station, "name" | "brand">): string =>
  name === "" || foldText(name).includes(foldText(brand)) ? "" : brand;
