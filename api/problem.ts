import { problemCodes, type Problem } from "#src/domain/problems.ts";

export interface ProblemAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A refusal as problem+json (partner-api.md 7). `base` is the prefix of `type`. */
export function renderProblem(problem: Problem, base: string, requestId: string): ProblemAnswer {
  const [status, title] = problemCodes[problem.problem];
  const body = JSON.stringify({
    type: `${base}/${problem.problem}`,
    title,
    status,
    detail: problem.detail,
    limit: problem.limit,
    window: problem.window,
    request_id: requestId,
  });
  return {
    status,
    headers: {
      ...problem.headers,
      ...(problem.retryAfterS === undefined ? {} : { "Retry-After": String(problem.retryAfterS) }),
      "Cache-Control": "no-store",
      "Content-Type": "application/problem+json",
    },
    body,
  };
}
