import type Koa from "koa";
import type { State } from "#api/http/context.ts";

/** One part's state. A part that is not ok stops the process from serving only when it is `critical`. */
export interface Condition {
  ok: boolean;
  detail?: unknown;
  critical?: boolean;
}

export interface Readiness {
  ready: boolean;
  /** Names of what is not ok. */
  degraded: string[];
  checks: Record<string, Condition>;
}

export interface Health {
  add(name: string, check: () => Condition): void;
  report(): Readiness;
  /** From now on not ready: the process is stopping. */
  stop(): void;
  readonly stopping: boolean;
}

/** A registry of named checks; each must answer at once from what the process knows. */
export function createHealth(): Health {
  const checks = new Map<string, () => Condition>();
  let stopping = false;
  return {
    add: (name, check) => void checks.set(name, check),
    report: () => {
      const conditions = [...checks].map(([name, check]) => [name, check()] as const);
      const bad = conditions.filter(([, { ok }]) => !ok);
      return {
        ready: !stopping && !bad.some(([, { critical }]) => critical === true),
        degraded: [...bad.map(([name]) => name), ...(stopping ? ["stopping"] : [])],
        checks: Object.fromEntries(conditions),
      };
    },
    stop: () => {
      stopping = true;
    },
    get stopping() {
      return stopping;
    },
  };
}

/** `/healthz`: the process is alive. `/readyz`: 200 when it can serve, 503 when not, and what is degraded. */
export const serveHealth =
  (health: Health): Koa.Middleware<State> =>
  (ctx, next) => {
    const { path } = ctx.state;
    if (path !== "/healthz" && path !== "/readyz") return next();
    const report = path === "/healthz" ? { alive: true } : health.report();
    return {
      status: "ready" in report && !report.ready ? 503 : 200,
      headers: { "Cache-Control": "no-store" },
      body: report,
    };
  };
