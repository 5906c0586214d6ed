import type { Client } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { stationCount } from "#test/fault/stage.ts";

/** One call as its sender saw it. `status` is 0 when the connection broke and -1 when nothing came for a long time. */
export interface Sent {
  externalId: string;
  station: number;
  startedAt: number;
  endedAt: number;
  status: number;
  retryAfter: string | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  body: any;
}

export interface Load {
  /** Every call that has ended, retries included. */
  sent: Sent[];
  /** Stops sending and waits for what is on its way. */
  stop(): Promise<void>;
  /** Sends what got no 200 or 202 again, with the same external_id, as a partner would, until it does. */
  retryAll(): Promise<void>;
}

const usual = { perSecond: 50, stations: stationCount };
const hungMs = 8000;
const statuses = ["yes", "low", "queue", "no"] as const;

/** Sends the mark number `n` of a test: each of another user, over all stations. */
export async function sendMark(client: Client, n: number, station: number): Promise<Sent> {
  const externalId = `mark-${n}`;
  const startedAt = Date.now();
  const status = statuses[n % 4]!;
  const call = client.mark(placeOf(station), `user-${n}`, {
    status,
    external_id: externalId,
    ...(status === "no" ? {} : { fuels: ["95"], prices: { "95": 50 + (n % 10) } }),
  });
  let timer: NodeJS.Timeout | undefined;
  const hung = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), hungMs);
  });
  const seen = { externalId, station, startedAt };
  try {
    const answer = await Promise.race([call, hung]);
    const endedAt = Date.now();
    if (answer === null) {
      call.catch(() => {});
      return { ...seen, endedAt, status: -1, retryAfter: null, body: null };
    }
    const retryAfter = answer.headers.get("retry-after");
    return { ...seen, endedAt, status: answer.status, retryAfter, body: answer.body };
  } catch {
    return { ...seen, endedAt: Date.now(), status: 0, retryAfter: null, body: null };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends 50 marks a second through the clients in turn, whatever happens to them, until it is stopped. `first`: the number of
 * the first one, where there were others before.
 */
export function startLoad(
  clients: readonly Client[],
  first = 0,
  { perSecond, stations }: { perSecond: number; stations: number } = usual,
): Load {
  const sent: Sent[] = [];
  const underWay = new Set<Promise<void>>();
  const startedAt = Date.now();
  let next = first;
  const send = (n: number, client: Client): Promise<void> => {
    const one = sendMark(client, n, n % stations).then((answer) => {
      sent.push(answer);
      underWay.delete(one);
    });
    underWay.add(one);
    return one;
  };
  const timer = setInterval(() => {
    const due = first + ((Date.now() - startedAt) / 1000) * perSecond;
    for (; next < due; next++) void send(next, clients[next % clients.length]!);
  }, 1000 / perSecond);
  const finish = async (): Promise<void> => {
    clearInterval(timer);
    await Promise.all(underWay);
  };
  return {
    sent,
    stop: finish,
    retryAll: async () => {
      for (let round = 1; ; round++) {
        const kept = new Set(sent.filter(isKept).map((one) => one.externalId));
        const open = Array.from({ length: next - first }, (_, n) => first + n).filter(
          (n) => !kept.has(`mark-${n}`),
        );
        if (open.length === 0) return;
        if (round > 10) throw new Error(`${open.length} marks are not taken after ${round} tries`);
        for (let from = 0; from < open.length; from += perSecond)
          await Promise.all(
            open
              .slice(from, from + perSecond)
              .map((n) => send(n, clients[round % clients.length]!)),
          );
      }
    },
  };
}

/** The mark was acknowledged: from then on it may not be lost. */
export const isKept = ({ status }: Sent): boolean => status === 200 || status === 202;
