/** Advice about a header of a proxy that is not trusted. */
export const proxyAdvice =
  "If a proxy of yours stands in front, set TRUSTED_PROXIES to its address: until then all its viewers count as one. A stranger can send such a header too, so a few of them mean nothing.";

/**
 * The sentences of a server to its operator, by code: in English for messages and `/readyz`. The console says each code
 * in its own languages. A released code keeps its meaning, because it is stored with alarms.
 */
export const sentences = {
  // Subjects of alarms.
  account: "account {account}",
  "accounts-unknown": "unknown accounts",
  answer: "answer {answer}",
  clock: "clock of {clock}",
  "clock-of-role": "clock of a {role} process",
  database: "database",
  dump: "dump",
  duty: "duty {duty}",
  "earlier-state": "an earlier state",
  feed: "feed {feed}",
  network: "network {network}",
  "other-server": "another server",
  "other-timeline": "another timeline",
  partner: "partner {partner}",
  processes: "processes",
  retention: "retention {retention}",
  station: "station {station}",
  stations: "stations",
  table: "table {table}",
  // States of the parts of a process.
  "clock-silent": "clock: no clock process has enqueued anything for {s} s, so no duty runs",
  collation: "collation version {versions}",
  "database-doubted": "has gone back to an earlier state, upkeep is to follow it",
  "disk-full": "takes no writes: the disk of the database is full",
  "duty-in-future": "{duty}: was noted {s} s in the future: the time of a process is wrong",
  "duty-late": "{duty}: has not succeeded for {s} s, though a clock enqueues it",
  eviction: "maxmemory-policy {policy}",
  "from-snapshot": "serving from the snapshot of {time} until the database is back",
  more: "{n} more",
  none: "none yet",
  "not-measured": "not measured",
  "on-time": "on time",
  "proxy-untrusted": `{untrusted} of {all} requests had X-Forwarded-For or Forwarded from an address that TRUSTED_PROXIES does not name. ${proxyAdvice}`,
  "read-only": "takes no writes: the database is read-only",
  "redis-right": "the user of REDIS_URL may not do all that is needed: add {right} to its rights",
  "refold-broken-off": "{station}: Postgres broke off its refold ({sqlstate}) since {time}",
  "refold-failing": "{station}: its refold fails ({error}) since {time}",
  "rows-readable": "every row can be read",
  "rows-set-aside": "set aside: {rows}",
  "stations-foldable": "every station can be folded",
  unknown: "unknown",
  "unknown-without-postgres": "unknown without Postgres",
  "unknown-without-redis": "unknown without Redis",
  writable: "takes writes",
} as const;

/** The placeholders of an English text: `used` and `all` in `{used} of {all}`. */
export type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Exclude<Name, `${string}|${string}`> | Names<Rest>
  : never;

/** A sentence by its code, with its values. */
export type Sentence = {
  [Code in keyof typeof sentences]: { code: Code } & {
    [Name in Names<(typeof sentences)[Code]>]: string | number;
  };
}[keyof typeof sentences];

/** A sentence in English. A text is one without a code, as an older process stores it. */
export function english(said: Sentence | string): string {
  if (typeof said === "string") return said;
  // A process of a later version may have stored a code of its own.
  const text: string | undefined = sentences[said.code];
  const values = new Map<string, string | number>(Object.entries(said));
  return (text ?? said.code).replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(values.get(name)),
  );
}
