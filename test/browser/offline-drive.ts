import type { Page } from "playwright-core";
import { rows } from "#src/infrastructure/db.ts";
import { issueConsumerKey } from "#src/keys/consumer-key.ts";
import { type MapSite, openMapSite, sendNow, stationsInView } from "#test/browser/map-site.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { use } from "#test/harness/use.ts";

/** The site of a `describe` whose map at `/` is in force: the one that can be kept on a phone. */
export const useOwnMap = (stations?: number): MapSite =>
  use(
    () => openOwnMap(stations),
    (site) => site.stop(),
  );

async function openOwnMap(stations = 40): Promise<MapSite> {
  const site = await openMapSite({ stations, roles: ["marks"] });
  await issueConsumerKey(site.country.db, site.instance.config);
  await until(
    () => fetch(`${site.web.baseUrl}/`, { redirect: "manual" }),
    ({ status }) => status === 200,
  );
  return site;
}

/** The map at `/`, opened on station `n`. */
export function mapAt(site: MapSite, n: number): string {
  const { lat, lon } = placeOf(n);
  return `${site.web.baseUrl}/?lat=${lat}&lon=${lon}&zoom=14&gestures=greedy`;
}

export const titleOf = (n: number): string => `Station ${placeOf(n).id}`;

/** Marks a station while there is no network, until the map says that the mark is kept. */
export async function sayOffline(page: Page, n: number, status: string): Promise<void> {
  await stationsInView(page);
  await page.getByRole("button", { name: titleOf(n) }).click();
  await page.getByRole("button", { name: "Update status" }).click();
  await page.getByRole("button", { name: status, exact: true }).click();
  await sendNow(page);
  await page.getByText("Your mark is kept on this device").waitFor();
}

/** The marks of the map about station `n`: when they came and when they are of, ms. */
export const marksOf = (site: MapSite, n: number) =>
  rows<{ received: number; effective: number }>(
    site.country.db,
    `select extract(epoch from received_at)::float8 * 1000 as received,
       extract(epoch from effective_at)::float8 * 1000 as effective
     from marks where station_id = ? and source = 'widget'`,
    [placeOf(n).id],
  );
