import { hash } from "node:crypto";
import { type Filters, filtersKey } from "#snapshots/model/filters.ts";

/** What of the country a dump holds: the first page, `limit` long, of the stations that pass. */
export interface DumpSet {
  filters: Filters;
  limit: number;
}

/** A short name, the same for every spelling of the same set. */
export const setName = ({ filters, limit }: DumpSet): string =>
  hash("sha1", `${limit} ${filtersKey(filters)}`, "base64url").slice(0, 16);
