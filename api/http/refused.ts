import { isRefusal, refuse, type Refusal } from "#src/contract/refusals.ts";

/** Thrown by middleware and handlers: the error middleware answers with its refusal. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.name = "Refused";
    this.refusal = refusal;
  }
}

/** A refusal to throw: a code, and a detail that says what was expected and what to do. */
export const refused = (...what: Parameters<typeof refuse>): Refused =>
  new Refused(refuse(...what));

/** The value, or its refusal thrown. */
export function orThrow<T extends object>(value: T | Refusal): T {
  if (isRefusal(value)) throw new Refused(value);
  return value;
}

/** What of an error may be logged: drivers hang settings and values on theirs. */
export function describe(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error };
  const { name, message, stack } = error;
  return { error: { name, message, stack, code: (error as { code?: unknown }).code } };
}
