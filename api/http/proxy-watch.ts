import { proxyAdvice } from "#src/contract/sentences.ts";
import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import type { Condition } from "#src/infrastructure/parts.ts";
import { addressSet, createViewerReader, plainAddress } from "#src/infrastructure/addresses.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";

const peersMax = 1000;

/**
 * Reads viewers' addresses, and counts requests with a header of a proxy that is not trusted (decisions 16.22).
 * Strangers write these headers: one line in the log of a process says it, and no more.
 */
export function createProxyWatch({ config, log }: { config: Config; log: Log }) {
  const trusted = addressSet(config.trustedProxies);
  const viewerOf = createViewerReader(trusted);
  // A process behind a trusted proxy asks this at every request.
  const peers = new LRUCache<string, boolean>({ max: peersMax });
  let all = 0;
  let untrusted = 0;

  const isTrusted = (peer: string): boolean => {
    let is = peers.get(peer);
    if (is === undefined) peers.set(peer, (is = trusted.has(plainAddress(peer))));
    return is;
  };

  return {
    /** The address that may be believed. `probe`: asked by a balancer itself, so it tells nothing about proxies. */
    viewer({ socket, headers }: IncomingMessage, probe: boolean): string {
      const peer = socket.remoteAddress ?? "";
      const forwarded = headers["x-forwarded-for"] as string | undefined;
      if (!probe) {
        all += 1;
        const isForwarded = forwarded !== undefined || headers.forwarded !== undefined;
        if (isForwarded && !isTrusted(peer)) {
          if (untrusted === 0)
            log.warn(`a request has a proxy's header, not believed. ${proxyAdvice}`);
          untrusted += 1;
        }
      }
      return viewerOf(peer, forwarded);
    },
    /** For `/readyz`: a detail, never a fault, because strangers must not be able to make one. */
    condition: (): Condition => ({
      ok: true,
      ...(untrusted === 0 ? {} : { says: [{ code: "proxy-untrusted" as const, untrusted, all }] }),
    }),
  };
}

export type ProxyWatch = ReturnType<typeof createProxyWatch>;
