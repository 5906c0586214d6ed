import type { Answer } from "#test/flow/client.ts";

/** A browser on one of the service's own pages, as far as its calls go: it keeps cookies and says where it comes from. */
export interface PageClient {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
  /** `Set-Cookie` of the last answer that had one. */
  setCookie: string;
  /** What it sends as `Cookie`. */
  cookie: string;
}

/** @param app the app below `baseUrl`, whose calls lie below `/<app>/api` */
export function createPageClient(baseUrl: string, app: "dashboard" | "console"): PageClient {
  const client: PageClient = {
    cookie: "",
    setCookie: "",
    call: async (method, path, body, headers = {}) => {
      const response = await fetch(`${baseUrl}/${app}/api${path}`, {
        method,
        headers: {
          ...(client.cookie === "" ? {} : { Cookie: client.cookie }),
          ...(method === "GET" ? {} : { Origin: baseUrl, "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      for (const set of response.headers.getSetCookie()) {
        const [pair = ""] = set.split(";");
        client.setCookie = set;
        client.cookie = pair.endsWith("=") ? "" : pair;
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
