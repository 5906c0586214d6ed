/**
 * SQL of a claim's assignments for a receiver `row`, whose failures in a row end when the attempt comes over an hour
 * late: time in which nothing was sent is no patience (decisions 20.8).
 */
export const failuresOf = (row: string): string => {
  const goesOn = `${row}.next_at > server_now() - interval '1 hour'`;
  return `failing_since = case when ${goesOn} then ${row}.failing_since end,
    failures = case when ${goesOn} then ${row}.failures else 0 end`;
};
