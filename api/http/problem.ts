import { refusals, type Refusal } from "#src/contract/refusals.ts";

export interface ProblemAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The problem object of partner-api.md 7. `base` is the prefix of `type`. */
export function problemObject(problem: Refusal, base: string, requestId: string) {
  const [status, title] = refusals[problem.problem];
  return {
    type: `${base}/${problem.problem}`,
    title,
    status,
    detail: problem.detail,
    limit: problem.limit,
    window: problem.window,
    request_id: requestId,
  };
}

/** A refusal as problem+json (partner-api.md 7). `base` is the prefix of `type`. */
export function renderProblem(problem: Refusal, base: string, requestId: string): ProblemAnswer {
  const object = problemObject(problem, base, requestId);
  return {
    status: object.status,
    headers: {
      ...problem.headers,
      ...(problem.retryAfterS === undefined ? {} : { "Retry-After": String(problem.retryAfterS) }),
      "Cache-Control": "no-store",
      "Content-Type": "application/problem+json",
    },
    body: JSON.stringify(object),
  };
}
