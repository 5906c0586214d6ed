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
  /** The same of the proof by which a browser is known again. */
  browser: string;
  /** The attributes with which the session's cookie came. */
  attributes: string;
}

/** A browser at `/console/` of one web process, with nobody signed in. */
export function createConsoleClient(baseUrl: string, cookie = ""): ConsoleClient {
  const client: ConsoleClient = {
    cookie,
    browser: "",
    attributes: "",
    call: async (method, path, body, headers = {}) => {
      const own: Record<string, string> =
        method === "GET"
          ? {}
          : { "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin" };
      const cookies = [client.cookie, client.browser].filter((pair) => pair !== "").join("; ");
      const response = await fetch(`${baseUrl}/console/api${path}`, {
        method,
        headers: { ...own, ...(cookies === "" ? {} : { Cookie: cookies }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      for (const given of response.headers.getSetCookie()) {
        const [pair = "", ...rest] = given.split("; ");
        if (/^[^=]*-browser=/.test(pair)) client.browser = pair;
        else {
          client.cookie = pair.endsWith("=") ? "" : pair;
          client.attributes = rest.join("; ");
        }
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
