import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";
import { type State, apiBase } from "#api/http/route.ts";
import type { ProblemCode } from "#src/contract/refusals.ts";
import type { Admission } from "#src/domain/admit.ts";

/** The counters of one web process. `registry` also holds the gauges that are read on demand. */
export interface Metrics {
  registry: Registry;
  /** A request is over. `route` is a template, never a path: strangers must not be able to make labels. */
  finished(route: string, status: number, ms: number): void;
  /** Intake has decided on a mark; null when it could not be stored. */
  marked(admission: Admission | null): void;
  /** Somebody has tried to sign in to the console: null for success, else the refusal's code. */
  signedIn(refusal: ProblemCode | null): void;
  /** A connection was ended whose caller did not read: it stood still, or it was the oldest when there was no room. */
  unreadEnded(reason: "stuck" | "full"): void;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The counters of a web process, and Node's own figures. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "fuelmark_requests_total",
    help: "Requests answered, by route template and HTTP status.",
    labelNames: ["route", "code"],
    registers,
  });
  const durations = new Histogram({
    name: "fuelmark_request_duration_seconds",
    help: "From a request's arrival to the end of its answer, by route template.",
    labelNames: ["route"],
    buckets: secondsBuckets,
    registers,
  });
  const marks = new Counter({
    name: "fuelmark_marks_total",
    help: "Marks by what intake made of them: accepted, held (by a block; others are held later), expired, duplicate, not-stored, or the code of the refusal.",
    labelNames: ["result"],
    registers,
  });
  const signIns = new Counter({
    name: "fuelmark_sign_ins_total",
    help: "Attempts to sign in to the console: success, or the code of the refusal.",
    labelNames: ["outcome"],
    registers,
  });
  const unreadEnded = new Counter({
    name: "fuelmark_unread_ended_total",
    help: "Connections ended because their callers did not read: stuck for 30 s, or the oldest when UNREAD_BYTES were full.",
    labelNames: ["reason"],
    registers,
  });
  const routes = new Map<string, RouteChildren>();

  return {
    registry,
    finished: (route, status, ms) => {
      let children = routes.get(route);
      if (children === undefined) {
        children = { duration: durations.labels(route), codes: new Map() };
        routes.set(route, children);
      }
      let count = children.codes.get(status);
      if (count === undefined) {
        count = requests.labels(route, String(status));
        children.codes.set(status, count);
      }
      count.inc();
      children.duration.observe(ms / 1000);
    },
    marked: (admission) => marks.inc({ result: resultOf(admission) }),
    signedIn: (refusal) => signIns.inc({ outcome: refusal ?? "success" }),
    unreadEnded: (reason) => unreadEnded.inc({ reason }),
  };
}

/** Labels resolved once: with them a request costs a third of a microsecond. */
interface RouteChildren {
  duration: Histogram.Internal<"route">;
  codes: Map<number, Counter.Internal>;
}

/** There are as many labels as routes; a path without a route has one of two labels, by its base. */
export const routeLabel = ({ routePath }: State, path: string): string =>
  path.startsWith(apiBase) ? (routePath?.template ?? "(none)") : "(page)";

function resultOf(admission: Admission | null): string {
  if (admission === null) return "not-stored";
  if (admission.kind === "duplicate") return "duplicate";
  if (admission.kind === "refused") return admission.problem.code;
  return admission.review === "none" ? "accepted" : admission.review;
}
