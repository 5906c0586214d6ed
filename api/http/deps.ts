import type { Resources } from "#src/infrastructure/resources.ts";
import type { Health } from "#api/http/health.ts";
import type { ProxyWatch } from "#src/infrastructure/addresses.ts";
import type { Metrics } from "#api/metrics/metrics.ts";
import type { Question } from "#api/stations/rectangles.ts";
import type { CacheLookup } from "#snapshots/rectangles/rectangle-store.ts";
import type { Tracer } from "#src/infrastructure/tracing.ts";
import type { KeyStore } from "#src/keys/key-store.ts";
import type { Meter, UsedToday } from "#src/limits/meter.ts";
import type { RequestJournal } from "#src/limits/request-journal.ts";

/** The services that every request uses: keys, limits, counts and log. */
export interface HttpDeps extends Pick<Resources, "config" | "clock" | "log"> {
  /** Null: no traces. */
  tracer: Tracer | null;
  health: Health;
  metrics: Metrics;
  proxies: ProxyWatch;
  keys: KeyStore;
  /** It also asks the cache for the answer. */
  meter: Meter<Question, CacheLookup>;
  journal: RequestJournal;
  usedToday: UsedToday;
  follower: { loaded(): boolean };
}
