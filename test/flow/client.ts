export interface Answer {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  body: any;
}

export interface Client {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** A mark at the station itself, unless `body` says otherwise. */
  mark(
    station: { id: string; lat: number; lon: number },
    userRef: string,
    body: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

/** What a partner's server sends to one web process. */
export function createClient(baseUrl: string, key: string): Client {
  const call = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<Answer> => {
    const response = await fetch(`${baseUrl}/api/v1/partner${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? null : (JSON.parse(text) as unknown),
    };
  };
  return {
    get: (path, headers = {}) => call("GET", path, headers),
    post: (path, body, headers = {}) => call("POST", path, headers, body),
    patch: (path, body) => call("PATCH", path, {}, body),
    delete: (path) => call("DELETE", path, {}),
    mark: ({ id, lat, lon }, userRef, body, headers = {}) =>
      call("POST", `/stations/${id}/report`, headers, { user_ref: userRef, lat, lon, ...body }),
  };
}

/** Nothing of this process runs for so long, its servers included; it costs no processor time. */
export const standStill = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Asks again every 50 ms until `ready` says yes; throws what it last got after `ms`, which is for a service that never will. */
export async function until<T>(
  ask: () => Promise<T>,
  ready: (value: T) => boolean,
  ms = 120_000,
): Promise<T> {
  for (const end = Date.now() + ms; ;) {
    const value = await ask();
    if (ready(value)) return value;
    if (Date.now() > end)
      throw new Error(`not within ${ms} ms, but ${JSON.stringify(value)?.slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
