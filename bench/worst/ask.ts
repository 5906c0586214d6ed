import { readdirSync, readFileSync } from "node:fs";
import { Agent, request as send } from "node:http";

/** A request below the API's base, or of the whole path where there is no key. */
export interface Asked {
  path: string;
  headers?: Record<string, string>;
  /** Sent as POST, unless `method` says something else. */
  body?: unknown;
  method?: string;
  /** The answer has no end: it is read until nothing more comes. */
  isOpen?: boolean;
}

const quietMs = 500;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Asks and counts the bytes of the answer, which nobody decodes. */
export function askRaw(
  port: number,
  key: string | null,
  { path, headers = {}, body, method, isOpen = false }: Asked,
): Promise<{ status: number; bytes: number }> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = send(
      {
        agent,
        port,
        host: "127.0.0.1",
        method: method ?? (sent === undefined ? "GET" : "POST"),
        path: key === null ? path : `/api/v1/partner${path}`,
        headers: {
          ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
          ...(sent === undefined ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
      },
      (answer) => {
        let bytes = 0;
        const over = (): void => resolve({ status: answer.statusCode ?? 0, bytes });
        const end = (): void => {
          over();
          outgoing.destroy();
        };
        let timer = isOpen ? setTimeout(end, quietMs) : undefined;
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          clearTimeout(timer);
          if (isOpen) timer = setTimeout(end, quietMs);
        });
        answer.on("end", over);
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
