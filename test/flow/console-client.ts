import type { Answer } from "#test/flow/client.ts";

export interface ConsoleClient {
  /** Below `/console/api`; with the headers that a browser sends from the console's own page, unless others are given. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** `name=value` of the session's cookie; "" when nobody is signed in. */
  cookie: string;
  /** The attributes with which the cookie came. */
  attributes: string;
}

/** A browser at `/console/` of one web process, with nobody signed in. */
export function createConsoleClient(baseUrl: string, cookie = ""): ConsoleClient {
  const client: ConsoleClient = {
    cookie,
    attributes: "",
    call: async (method, path, body, headers = {}) => {
      const own: Record<string, string> =
        method === "GET"
          ? {}
          : { "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin" };
      const response = await fetch(`${baseUrl}/console/api${path}`, {
        method,
        headers: { ...own, ...(client.cookie === "" ? {} : { Cookie: client.cookie }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const given = response.headers.get("set-cookie");
      if (given !== null) {
        const [pair = "", ...rest] = given.split("; ");
        client.cookie = pair.endsWith("=") ? "" : pair;
        client.attributes = rest.join("; ");
      }
      const text = await response.text();
      const value: unknown = text === "" ? null : JSON.parse(text);
      return { status: response.status, headers: response.headers, body: value };
    },
  };
  return client;
}

/** A browser that has signed in; throws when that fails. */
export async function signIn(
  baseUrl: string,
  credentials: { name: string; password: string } | { key: string },
): Promise<ConsoleClient> {
  const client = createConsoleClient(baseUrl);
  const answer = await client.call("POST", "/session", credentials);
  if (answer.status !== 201) throw new Error(`not signed in: ${JSON.stringify(answer.body)}`);
  return client;
}
