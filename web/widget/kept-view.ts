import { recall, remember } from "#web/kit/storage.ts";
import { filtersText, writeFilters } from "#web/widget/kept-filters.ts";
import { grade } from "#web/widget/grade.ts";
import { page } from "#web/widget/page.ts";
import { filters } from "#web/widget/state.ts";

const city = "city";
/** The city that was chosen in this page. */
let chosenCity = "";

/** The city that the driver has chosen on this device; empty: none. Only the operator's own map asks for it. */
export const keptCity = (): string => (page.isOwnMap ? (recall(city) ?? "") : "");

/** A city was chosen: the device and the address of the operator's own map keep it (decisions 15.31). */
export function keepCity(name: string): void {
  if (!page.isOwnMap) return;
  remember(city, name);
  chosenCity = name;
  follow((address) => setCity(address, name));
}

function setCity(address: URLSearchParams, name: string): void {
  for (const other of ["lat", "lon", "zoom"]) address.delete(other);
  address.set(city, name);
}

/** Nothing of that city can be found any more. */
export const forgetCity = (): void => remember(city, null);

/** Makes the device and the address keep the filters from now on. */
export function keepFilters(): void {
  if (!page.isOwnMap) return;
  // Closing a panel goes back to an address of before.
  addEventListener("popstate", () =>
    follow((address) => {
      writeFilters(address, filters.peek());
      if (chosenCity !== "") setCity(address, chosenCity);
      if (grade.peek() === null) address.delete("fuel");
      else address.set("fuel", grade.peek()!);
    }),
  );
  let first = true;
  filters.subscribe((chosen) => {
    if (!first) remember("filters", filtersText(chosen));
    first = false;
    follow((address) => writeFilters(address, chosen));
  });
}

function follow(change: (address: URLSearchParams) => void): void {
  const address = new URL(location.href);
  change(address.searchParams);
  if (address.href !== location.href) history.replaceState(history.state, "", address);
}
