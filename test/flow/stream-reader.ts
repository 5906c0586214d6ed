import { request, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { Delta } from "#client/types.ts";
import { checkAnswer } from "#test/harness/watched.ts";

export interface SeenEvent {
  id: string;
  data: Delta;
}

/** A partner's connection to `/stations/stream`, read by hand. */
export interface StreamReader {
  status: number;
  headers: IncomingMessage["headers"];
  /** What has come so far, heartbeats included. */
  text(): string;
  /** The whole events in it. */
  events(): SeenEvent[];
  /** Stations in these events by id, each as it came last. */
  stations(): Map<string, Delta["stations"][number]>;
  /** The last `id` that has come, also one without data. */
  lastId(): string;
  /** How it was over: ended by the server in order, or cut. */
  over: Promise<"ended" | "cut">;
  /** Reads nothing any more, and again. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Opens a stream; a refusal is read whole. `check`: hold it against the document; not behind a proxy, which adds headers. */
export async function openStream(
  baseUrl: string,
  key: string,
  { query = "", method = "GET", headers = {} as Record<string, string>, check = true } = {},
): Promise<StreamReader> {
  const url = new URL(`${baseUrl}/api/v1/partner/stations/stream${query}`);
  const asking = request(url, {
    method,
    agent: false,
    headers: { Authorization: `Bearer ${key}`, "Accept-Encoding": "gzip, br", ...headers },
  });
  asking.end();
  const [response] = (await once(asking, "response")) as [IncomingMessage];
  asking.on("error", () => {});
  let said = "";
  response.setEncoding("utf8").on("data", (text: string) => (said += text));
  const over = new Promise<"ended" | "cut">((resolve) => {
    response.on("error", () => {});
    response.on("close", () => resolve(response.complete ? "ended" : "cut"));
  });
  const status = response.statusCode ?? 0;
  if (status >= 400) await over;
  const lines = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
  const seen = { status, headers: new Headers(lines as [string, string][]) };
  if (check) await checkAnswer(url, method, { ...seen, body: status >= 400 ? said : null });
  // A fault is remembered for the end of the run.
  if (check && status === 200 && method === "GET")
    void over
      .then(async (how) => {
        if (how === "ended") await checkAnswer(url, method, { ...seen, body: said });
      })
      .catch(() => undefined);
  const events = (): SeenEvent[] =>
    [...said.matchAll(/^id: (.*)\ndata: (.*)\n\n/gm)].map(([, id = "", data = ""]) => ({
      id,
      data: JSON.parse(data) as Delta,
    }));
  return {
    status,
    headers: response.headers,
    text: () => said,
    events,
    stations: () =>
      new Map(events().flatMap(({ data }) => data.stations.map((one) => [one.id, one] as const))),
    // A torn one at the end counts for nothing.
    lastId: () => [...said.matchAll(/^id: (.*)\n(data: .*\n)?\n/gm)].at(-1)?.[1] ?? "",
    over,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void response.destroy(),
  };
}
