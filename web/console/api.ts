import { signal } from "@preact/signals";
import type { ConsoleAccount } from "#src/contract/console.ts";
import { pageApi, type Result } from "#web/kit/page-api.ts";

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
  return toldOf(method === "GET" ? await api.get<T>(path) : await api.send<T>(method, path, body));
}

/** Sends a file as it is. Never rejects. */
export const upload = async <T>(path: string, file: File): Promise<Told<T>> =>
  toldOf(await api.upload<T>(path, file));

const toldOf = <T>(told: Result<T>): Told<T> =>
  told.failure === undefined
    ? { ok: true, body: told.value }
    : { ok: false, detail: told.failure.words };
