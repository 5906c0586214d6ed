import type { Condition } from "#src/infrastructure/parts.ts";
import { english } from "#src/contract/sentences.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { PageRouter } from "#api/http/route.ts";

export interface Readiness {
  ready: boolean;
  /** Names of the checks that are not ok. */
  degraded: string[];
  checks: Record<string, Condition>;
}

export interface Health {
  add(name: string, check: () => Condition): void;
  report(): Readiness;
  /** Logs when the process has become unready since the last call, and when it is ready again. */
  watch(log: Log): void;
  /** The process is stopping: not ready from now on. */
  stop(): void;
  readonly stopping: boolean;
}

/** A registry of named checks; each must answer at once from what the process knows. */
export function createHealth(): Health {
  const checks = new Map<string, () => Condition>();
  let stopping = false;
  let wasReady = true;
  const report = (): Readiness => {
    const conditions = [...checks].map(([name, check]) => [name, check()] as const);
    const bad = conditions.filter(([, { ok }]) => !ok);
    return {
      ready: !stopping && !bad.some(([, { critical }]) => critical === true),
      degraded: [...bad.map(([name]) => name), ...(stopping ? ["stopping"] : [])],
      checks: Object.fromEntries(conditions),
    };
  };
  return {
    add: (name, check) => void checks.set(name, check),
    report,
    watch: (log) => {
      const { ready, degraded, checks: all } = report();
      const why = degraded.filter((name) => all[name]?.critical === true);
      if (!ready && wasReady && !stopping)
        log.error({ reason: why.join(", ") }, "not ready: load balancers leave this process out");
      if (ready && !wasReady) log.info("ready again");
      wasReady = ready;
    },
    stop: () => {
      stopping = true;
    },
    get stopping() {
      return stopping;
    },
  };
}

/** `/healthz`: the process is alive. `/readyz`: 200 when it can serve, 503 when not, with the degraded parts. */
export function healthPages(router: PageRouter, { health }: { health: Health }): void {
  router.get("/healthz", (ctx) => {
    ctx.set("Cache-Control", "no-store");
    ctx.body = { alive: true };
  });
  router.get("/readyz", (ctx) => {
    const report = health.report();
    ctx.set("Cache-Control", "no-store");
    ctx.status = report.ready ? 200 : 503;
    const checks = Object.entries(report.checks).map(([name, { says, ...part }]) => [
      name,
      says === undefined ? part : { ...part, detail: says.map(english).join("; ") },
    ]);
    ctx.body = { ...report, checks: Object.fromEntries(checks) };
  });
}
