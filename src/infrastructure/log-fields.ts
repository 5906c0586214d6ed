/**
 * The only names under which anything is logged. A log line is read by more people than the data is meant for, so a
 * name is added here with a thought for what can stand under it: never a header, query, body, key, user_ref or device.
 */
const names = new Set(
  `request_id method path route status ms bytes partner key aborted err error reason signal
   againInMs port channel queue job attempt duty slot result seq made kept keys count
   counts gzip br asked stations station marks mark processed different gone applied
   partition step table rows lines webhook delivery type days browser dropped clocks trusted`.split(
    /\s+/,
  ),
);

/** What of a line may be logged. Names that are not meant for it are named in `dropped`, without what stood there. */
export function onlyNamed(line: Record<string, unknown>): Record<string, unknown> {
  let dropped: string[] | null = null;
  for (const name in line) if (!names.has(name)) (dropped ??= []).push(name);
  if (dropped === null) return line;
  const kept = Object.entries(line).filter(([name]) => names.has(name));
  return { ...Object.fromEntries(kept), dropped };
}

/** A path as it may be logged: what stands behind `/users/` names a person. */
export const withoutUsers = (path: string): string => path.replace(/(\/users)(\/|%2f).+/is, "$1/…");

/** What of an error may be logged: drivers hang settings, statements and values on theirs. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? error : typeof error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { name, message, stack, code, cause: cause === undefined ? cause : describeError(cause) };
}
