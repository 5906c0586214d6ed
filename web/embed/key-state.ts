import { computed, effect, signal } from "@preact/signals";
import type { EmbedKey } from "#src/contract/embed.ts";
import { isAllowedPage } from "#src/contract/hosts.ts";
import { choices, serviceAddress } from "#web/embed/choices.ts";
import { keepKey } from "#web/embed/kept-keys.ts";

const restMs = 400;
const retryMs = 5000;

/** The service's answer about the typed key; null while it is being asked. */
export const keyState = signal<EmbedKey | null>(null);

/** Whether the map would be shown on the partner's site; null when there is nothing to compare. */
export const siteAllowed = computed<boolean | null>(() => {
  const { site } = choices.value;
  const known = keyState.value;
  if (site.trim() === "" || known?.state !== "ok") return null;
  const referer = /^[a-z]+:\/\//i.test(site.trim()) ? site.trim() : `https://${site.trim()}`;
  return isAllowedPage({ referer }, known.domains, serviceAddress());
});

const key = computed(() => choices.value.key.trim());

/** Asks about the key whenever it has changed and rests for a moment. */
export function watchKey(): void {
  effect(() => {
    const text = key.value;
    const local = judgeLocally(text);
    keyState.value = local;
    if (local !== null) return undefined;
    const stop = new AbortController();
    let timer = setTimeout(ask, restMs);
    function ask(): void {
      void askAbout(text, stop.signal).then((told) => {
        if (stop.signal.aborted) return;
        keyState.value = told;
        if (told.state === "ok") keepKey(text);
        if (told.state === "unavailable") timer = setTimeout(ask, retryMs);
      });
    }
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  });
}

/** A secret key is not sent anywhere, not even to its own service. */
function judgeLocally(text: string): EmbedKey | null {
  if (text === "") return { state: "no-key", domains: [], reports: false };
  if (text.startsWith("svc_")) return { state: "secret-key", domains: [], reports: false };
  // Headers take no such letters, and no key has any.
  if (!/^[\x21-\x7e]+$/.test(text)) return { state: "invalid-key", domains: [], reports: false };
  return null;
}

async function askAbout(text: string, signal: AbortSignal): Promise<EmbedKey> {
  try {
    const response = await fetch("embed/key", {
      headers: { Authorization: `Bearer ${text}` },
      cache: "no-store",
      signal,
    });
    if (response.ok) return (await response.json()) as EmbedKey;
  } catch {
    // A lost connection counts as unavailable too.
  }
  return { state: "unavailable", domains: [], reports: false };
}
