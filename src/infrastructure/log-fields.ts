/**
 * The only names under which anything is logged. A log line is read by more people than the data is meant for, so a
 * name is added only if its values are never a header, query, body, key, user_ref or device.
 */
const names = new Set(
  `request_id method path route status ms bytes partner key aborted err error reason signal
   againInMs port channel queue job attempt duty slot result seq made kept keys count
   counts gzip br requested stations station marks mark processed different gone applied
   partition step table rows lines webhook delivery type day days browser dropped clocks trusted`.split(
    /\s+/,
  ),
);

/** The part of a line that may be logged. Other names are listed in `dropped`, without their values. */
export function onlyNamed(line: Record<string, unknown>): Record<string, unknown> {
  let dropped: string[] | null = null;
  for (const name in line) if (!names.has(name)) (dropped ??= []).push(name);
  if (dropped === null) return line;
  const kept = Object.entries(line).filter(([name]) => names.has(name));
  return { ...Object.fromEntries(kept), dropped };
}

/** A path for the log: the part behind `/users/` names a person. */
export const withoutUsers = (path: string): string => path.replace(/(\/users)(\/|%2f).+/is, "$1/…");

/** The part of an error that may be logged: drivers add settings, statements and values to their errors. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? error : typeof error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { name, message, stack, code, cause: cause === undefined ? cause : describeError(cause) };
}
