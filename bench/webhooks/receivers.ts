import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** How a partner's server answers. */
export const answerings = ["at once", "slow", "failing"] as const;
export type Answering = (typeof answerings)[number];

/** Of twenty endpoints one is slow and one fails. */
export const answeringOf = (endpoint: number): Answering =>
  endpoint % 20 === 5 ? "slow" : endpoint % 20 === 15 ? "failing" : "at once";

export const slowMs = 2000;

/** Of ten endpoints one hangs, one answers 500 and one 410: those that the others are timed beside. */
export const isBad = (endpoint: number): boolean => endpoint % 10 < 3;

export interface Receivers {
  /** The URL of an endpoint; it ends with how it answers, for `waitingOf`. */
  urlOf(endpoint: number): string;
  /** From now on all answer at once, but for the bad ones where there are such. */
  only(others: "healthy" | "bad"): void;
  /** Requests so far, all endpoints together. */
  posts(): number;
  close(): void;
}

/** The servers of all partners, in one: 204 at once, 204 after two seconds, or 500. */
export async function startReceivers(): Promise<Receivers> {
  let posts = 0;
  let others: "healthy" | "bad" | null = null;
  const server = createServer((request, response) => {
    const endpoint = Number(/\d+/.exec(request.url ?? "")?.[0]);
    const answering = answeringOf(endpoint);
    request.resume().on("end", () => {
      posts += 1;
      if (others !== null) {
        const status = others === "bad" && isBad(endpoint) ? [0, 500, 410][endpoint % 10]! : 204;
        if (status !== 0) response.writeHead(status).end();
        return;
      }
      const end = (): void => void response.writeHead(answering === "failing" ? 500 : 204).end();
      if (answering === "slow") setTimeout(end, slowMs);
      else end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (endpoint) =>
      `http://127.0.0.1:${port}/${endpoint}/${answeringOf(endpoint).replace(" ", "-")}`,
    posts: () => posts,
    only: (wanted) => void (others = wanted),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
