import { foldText } from "#src/contract/fold-text.ts";
import { computed, effect, signal } from "@preact/signals";
import { choices } from "#web/embed/choices.ts";
import { keyState } from "#web/embed/key-state.ts";

const restMs = 250;
const shownMax = 8;

interface City {
  name: string;
  region: string;
}

/** Cities whose name contains the typed text; null while they are not known. */
export const cities = signal<readonly City[] | null>(null);

const asked = computed(() => {
  const { place, city, key } = choices.value;
  const ready = place === "city" && city.trim() !== "" && keyState.value?.state === "ok";
  return ready ? JSON.stringify([city.trim(), key.trim()]) : null;
});

/** True when the service has cities, and none of exactly the name that was typed. */
export const cityUnknown = computed<boolean>(() => {
  const name = choices.value.city.trim();
  const known = cities.value;
  return (
    known !== null && name !== "" && known.every((one) => foldText(one.name) !== foldText(name))
  );
});

effect(() => {
  const question = asked.value;
  cities.value = null;
  if (question === null) return undefined;
  const [city, key] = JSON.parse(question) as [string, string];
  const stop = new AbortController();
  const timer = setTimeout(() => {
    void ask(city, key, stop.signal).then((found) => {
      if (!stop.signal.aborted) cities.value = found;
    });
  }, restMs);
  return () => {
    clearTimeout(timer);
    stop.abort();
  };
});

async function ask(city: string, key: string, stop: AbortSignal): Promise<readonly City[] | null> {
  const path = `../api/v1/partner/cities?limit=${shownMax}&q=${encodeURIComponent(city)}`;
  try {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(path, { headers, signal: stop });
    return response.ok ? ((await response.json()) as { cities: City[] }).cities : null;
  } catch {
    return null;
  }
}
