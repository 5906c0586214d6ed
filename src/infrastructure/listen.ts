import pg from "pg";
import { pauseMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { createHosts, directUrl } from "#src/infrastructure/postgres-hosts.ts";

export type Listener = ReturnType<typeof listen>;

const firstPauseMs = 200;
const longestPauseMs = 5000;

/**
 * Calls `wake` on each NOTIFY of `channel`, and after every (re)connect, since notifications in between are lost. A
 * notification is a hint: its listener must also look by itself from time to time.
 */
export function listen(
  config: Config,
  log: Log,
  channel: string,
  wake: (why: "connected" | "notified") => void,
) {
  const hosts = createHosts(directUrl(config));
  let client: pg.Client | null = null;
  let connecting: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let tries = 0;
  let stopped = false;

  const connect = async (): Promise<void> => {
    const host = hosts.current();
    const next = new pg.Client({
      connectionString: host,
      application_name: `fuelmark listens to ${channel}`,
      keepAlive: true,
      connectionTimeoutMillis: config.acquireTimeoutMs,
      // For `listen` itself; the wait for notifications is no query.
      query_timeout: config.acquireTimeoutMs,
    });
    let lost = false;
    const again = (error?: Error): void => {
      if (lost) return;
      lost = true;
      if (client === next) client = null;
      hosts.failed(host);
      if (stopped) return;
      log.warn({ channel, reason: error?.message }, "lost the listening connection");
      next.end().catch(() => {});
      timer = setTimeout(begin, pauseMs(tries++, firstPauseMs, longestPauseMs)).unref();
    };
    next.on("error", again);
    next.on("end", () => again());
    next.on("notification", () => wake("notified"));
    client = next;
    try {
      await next.connect();
      // A default of the database may end idle sessions, and this one waits for long.
      const name = next.escapeIdentifier(channel);
      await next.query(`listen ${name}; set idle_session_timeout = 0`);
      tries = 0;
      if (!stopped) wake("connected");
    } catch (error) {
      again(error as Error);
    }
  };

  const begin = (): void => {
    connecting = connect();
  };

  begin();
  return {
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      // This comes first, because a connect() never settles if its client is ended meanwhile. It has its own timeout.
      await connecting;
      await client?.end().catch(() => {});
    },
  };
}
