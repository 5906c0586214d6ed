import { readdirSync, readFileSync } from "node:fs";
import { Agent, request as send } from "node:http";

/** A request below the API's base. */
export interface Asked {
  path: string;
  headers?: Record<string, string>;
  /** Sent as POST. */
  body?: unknown;
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Asks and counts the bytes of the answer, which nobody decodes. */
export function askRaw(
  port: number,
  key: string,
  { path, headers = {}, body }: Asked,
): Promise<{ status: number; bytes: number }> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = send(
      {
        agent,
        port,
        host: "127.0.0.1",
        method: sent === undefined ? "GET" : "POST",
        path: `/api/v1/partner${path}`,
        headers: {
          Authorization: `Bearer ${key}`,
          ...(sent === undefined ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
      },
      (answer) => {
        let bytes = 0;
        answer.on("data", (chunk: Buffer) => (bytes += chunk.length));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, bytes }));
        answer.on("error", reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(sent);
  });
}

/**
 * CPU time that a process has used, ms: of its main thread, and of its other threads. From the scheduler, in
 * nanoseconds: the ticks of `stat` are 10 ms.
 */
export function cpuMsOf(pid: number): { main: number; other: number } {
  const used = { main: 0, other: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1");
    used[Number(thread) === pid ? "main" : "other"] += Number(text.split(" ")[0]) / 1e6;
  }
  return used;
}
