import { effect } from "@preact/signals";
import { remember } from "#web/kit/storage.ts";
import { filtersText, writeFilters } from "#web/widget/kept-filters.ts";
import { chosenGrade, grade } from "#web/widget/grade.ts";
import { page } from "#web/widget/page.ts";
import { origin } from "#web/widget/nearest.ts";
import { tellServer } from "#web/widget/place.ts";
import { filters } from "#web/widget/state.ts";
import { language } from "#web/widget/words.ts";

/** The city that was chosen in this page; null: another place. */
let chosenCity: string | null | undefined;

/** A city was chosen, or another place: the address of the operator's own map keeps it (decisions 15.31). */
export function keepCity(name: string | null): void {
  if (!page.isOwnMap) return;
  chosenCity = name;
  follow((address) => setCity(address, name));
}

function setCity(address: URLSearchParams, name: string | null): void {
  for (const other of ["lat", "lon", "zoom", "city"]) address.delete(other);
  if (name !== null) address.set("city", name);
}

/** Makes the device and the address keep the filters from now on. */
export function keepFilters(): void {
  if (!page.isOwnMap) return;
  // Closing a panel goes back to an address of before.
  addEventListener("popstate", () =>
    follow((address) => {
      writeFilters(address, filters.peek());
      if (chosenCity !== undefined) setCity(address, chosenCity);
      if (grade.peek() === null) address.delete("fuel");
      else address.set("fuel", grade.peek()!);
    }),
  );
  origin.subscribe((from) => {
    if (from === null) return;
    // Whoever looks around themselves has left the city of the address.
    if (from.city === null && new URLSearchParams(location.search).has("city")) keepCity(null);
  });
  effect(() => {
    // The place is kept by then.
    void origin.value;
    void grade.value;
    tellServer(language, chosenGrade());
  });
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
