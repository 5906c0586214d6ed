import { signal } from "@preact/signals";
import type { ConsoleAccount } from "#src/domain/console.ts";
import { pageApi } from "#web/kit/page-api.ts";

/** Who is signed in; null when nobody is, undefined as long as that is not known. */
export const account = signal<ConsoleAccount | null | undefined>(undefined);

/** Whether the signed-in account may change things. The server decides; this spares useless buttons. */
export const mayChange = (): boolean => account.value?.role === "operator";

export type Told<T> = { ok: true; body: T } | { ok: false; detail: string };

const api = pageApi(() => {
  account.value = null;
});

/** One call of the console's server. Never rejects. A session that is over shows the sign-in page. */
export async function call<T>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: object,
): Promise<Told<T>> {
  const told = method === "GET" ? await api.get<T>(path) : await api.send<T>(method, path, body);
  return told.failure === undefined
    ? { ok: true, body: told.value }
    : { ok: false, detail: told.failure.words };
}

/** Sends a file as it is. Never rejects. */
export async function upload<T>(path: string, file: File): Promise<Told<T>> {
  try {
    const response = await fetch(`api${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: file,
    });
    const answer = (await response.json()) as T & { detail?: unknown; title?: string };
    if (response.ok) return { ok: true, body: answer };
    if (response.status === 401) account.value = null;
    const { detail, title = "" } = answer;
    return { ok: false, detail: typeof detail === "string" ? detail : title };
  } catch {
    return { ok: false, detail: "The file did not get through. Try again." };
  }
}
