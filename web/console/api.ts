import { signal } from "@preact/signals";
import type { ConsoleAccount } from "#src/domain/console.ts";

/** Who is signed in; null when nobody is, undefined as long as that is not known. */
export const account = signal<ConsoleAccount | null | undefined>(undefined);

/** Whether the signed-in account may change things. The server decides; this spares useless buttons. */
export const mayChange = (): boolean => account.value?.role === "operator";

export type Told<T> =
  | { ok: true; body: T }
  | { ok: false; status: number; code: string; detail: string };

/** One call of the console's server. Never rejects. A session that is over shows the sign-in page. */
export async function call<T>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: object,
): Promise<Told<T>> {
  try {
    const response = await fetch(`api${path}`, {
      method,
      // The server takes changes as JSON alone: no page of another site can send that.
      headers: method === "GET" ? {} : { "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const value: unknown = text === "" ? null : JSON.parse(text);
    if (response.ok) return { ok: true, body: value as T };
    const refused = refusalOf(response.status, value);
    if (refused.code === "session-over") account.value = null;
    return refused;
  } catch {
    return { ok: false, status: 0, code: "offline", detail: "The service does not answer." };
  }
}

interface Problem {
  type?: string;
  title?: string;
  detail?: string | { loc: (string | number)[]; msg: string }[];
}

function refusalOf(status: number, value: unknown): Told<never> & { ok: false } {
  const { type = "", title = `Error ${status}`, detail } = (value ?? {}) as Problem;
  const code = type.slice(type.lastIndexOf("/") + 1);
  if (!Array.isArray(detail)) return { ok: false, status, code, detail: detail ?? title };
  const faults = detail.map(({ loc, msg }) => `${loc.slice(1).join(" ")}: ${msg}`);
  return { ok: false, status, code, detail: faults.join(". ") };
}
