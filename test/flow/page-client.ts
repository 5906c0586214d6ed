import type { Answer } from "#test/flow/client.ts";

/** A browser on one of the service's own pages, as far as its calls go: it keeps cookies and says where it comes from. */
export interface PageClient {
  /** Below `/<app>/api`; with the headers that a browser sends from the app's own page, unless others are given. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
  /** `Set-Cookie` of the last answer that had one of the session. */
  setCookie: string;
  /** `name=value` of the session's cookie; "" when nobody is signed in. */
  cookie: string;
  /** The same of the proof by which a browser is known again. */
  browser: string;
}

/** A browser at `/<app>/` of one web process, with nobody signed in. */
export function createPageClient(
  baseUrl: string,
  app: "dashboard" | "console",
  cookie = "",
): PageClient {
  const origin: Record<string, string> =
    app === "console" ? { "Sec-Fetch-Site": "same-origin" } : { Origin: baseUrl };
  const client: PageClient = {
    cookie,
    browser: "",
    setCookie: "",
    call: async (method, path, body, headers = {}) => {
      const cookies = [client.cookie, client.browser].filter((pair) => pair !== "").join("; ");
      const response = await fetch(`${baseUrl}/${app}/api${path}`, {
        method,
        headers: {
          ...(cookies === "" ? {} : { Cookie: cookies }),
          ...(method === "GET" ? {} : { ...origin, "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      for (const set of response.headers.getSetCookie()) {
        const [pair = ""] = set.split("; ");
        if (/^[^=]*-browser=/.test(pair)) client.browser = pair;
        else {
          client.setCookie = set;
          client.cookie = pair.endsWith("=") ? "" : pair;
        }
      }
      const text = await response.text();
      const isJson = (response.headers.get("content-type") ?? "").includes("json");
      const parsed: unknown = text === "" ? null : isJson ? JSON.parse(text) : text;
      return { status: response.status, headers: response.headers, body: parsed };
    },
    get: (path) => client.call("GET", path),
    post: (path, body) => client.call("POST", path, body),
  };
  return client;
}
