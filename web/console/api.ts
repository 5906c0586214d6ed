import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { ConsoleAccount } from "#src/contract/console.ts";
import { pageApi } from "#web/kit/page-api.ts";
import { type Resource, resource } from "#web/kit/resource.tsx";

/** The account that is signed in; null: none; undefined: not known yet. */
export const account = signal<ConsoleAccount | null | undefined>(undefined);

/** Whether the signed-in account may change things. The server decides; this spares useless buttons. */
export const mayChange = (): boolean => account.value?.role === "operator";

/** Calls of the console's server. A session that is over shows the sign-in page. */
export const api = pageApi(() => {
  account.value = null;
});

/** Loads `path` when the page opens and whenever it changes, and again every `everyMs` while it can be seen. */
export function useLoaded<T>(path: string, everyMs = 0): Resource<T> {
  const loading = useMemo(() => resource((unattended) => api.get<T>(path, unattended)), [path]);
  useEffect(() => {
    void loading.load();
    if (everyMs === 0) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void loading.load(true);
    }, everyMs);
    return () => clearInterval(timer);
  }, [loading, everyMs]);
  return loading;
}
