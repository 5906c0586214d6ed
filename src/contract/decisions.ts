import type { ConsoleLogEntry } from "#src/contract/console.ts";

/** The kinds of decisions by which the console's page filters them. */
export type DecisionKind = (typeof decisionKinds)[number];
export const decisionKinds = [
  "review",
  "rollback",
  "block",
  "station",
  "import",
  "limit",
  "key",
  "brand",
  "incident",
] as const;

/**
 * The acts that the page of decisions shows, each with its kind and, after it, what it changes: a later act of the same
 * subject that changes the same takes its place.
 */
export const decisionActions = {
  "review.approve": ["review", "verdict"],
  "review.reject": ["review", "verdict"],
  "review.approve-undo": ["review", "verdict"],
  "review.reject-undo": ["review", "verdict"],
  "marks.rollback": ["rollback", "marks"],
  "marks.rollback-undo": ["rollback", "marks"],
  "reporter.block": ["block", "block"],
  "network.block": ["block", "block"],
  "suggestion.done": ["station", "verdict"],
  "suggestion.dismiss": ["station", "verdict"],
  "suggestion.done-undo": ["station", "verdict"],
  "suggestion.dismiss-undo": ["station", "verdict"],
  "station.add": ["station", "service"],
  "station.edit": ["station", "facts"],
  "station.close": ["station", "service"],
  "station.reopen": ["station", "service"],
  "station.merge": ["station", "service"],
  "station.split": ["station", "service"],
  "station.keep-apart": ["station", "pair"],
  "station.field-sources": ["import", "field"],
  "stations.import": ["import", ""],
  "cities.import": ["import", ""],
  "statuses.import": ["import", ""],
  "feed.import": ["import", ""],
  "feed.add": ["import", ""],
  "feed.remove": ["import", "feed"],
  "feed.pause": ["import", "feed"],
  "feed.resume": ["import", "feed"],
  "feed.run": ["import", ""],
  "limit-request.approve": ["limit", "request"],
  "limit-request.reject": ["limit", "request"],
  "limit-request.approve-undo": ["limit", "request"],
  "limit-request.reject-undo": ["limit", "request"],
  "partner.create": ["limit", ""],
  "partner.update": ["limit", "partner"],
  "partner.launch": ["limit", "launch"],
  "key.issue": ["key", ""],
  "key.update": ["key", "key"],
  "key.limit": ["key", "key-limit"],
  "key.rotate": ["key", ""],
  "key.revoke": ["key", ""],
  "brand.alias": ["brand", "alias"],
  "brand.unalias": ["brand", "alias"],
  "incident.open": ["incident", ""],
  "incident.update": ["incident", ""],
  "incident.edit": ["incident", "text"],
  "incident.close": ["incident", ""],
} as const satisfies Record<string, readonly [kind: DecisionKind, changes: string]>;

/** Each action of a kind, or of all, with the actions that take its place. */
export function actionsLike(kind?: string): Record<string, string[]> {
  const all = Object.entries(decisionActions);
  const same = (thing: string): string[] =>
    all.filter(([, [, other]]) => thing !== "" && other === thing).map(([action]) => action);
  return Object.fromEntries(
    all
      .filter(([, [one]]) => kind === undefined || one === kind)
      .map(([action, [, thing]]) => [action, same(thing)]),
  );
}

export type DecisionAction = keyof typeof decisionActions;

/** A decision of an operator: an entry of the log with where it is seen, and how it is taken back. Times in ms. */
export interface ConsoleDecision extends ConsoleLogEntry {
  /** The name of its station, partner or key's partner; "" without one. */
  name: string;
  /** The console's page of what it is about. */
  page: string;
  /** The call of the console that takes it back; null where there is none, or not any more. */
  undo: { method: "POST" | "PATCH" | "DELETE"; path: string; body?: object } | null;
  /** The operator who has taken it back, or has changed the same since. */
  since: { actor: string; at: number; undone: boolean } | null;
}

/** A block that is in force, `until` ms; `network` by the hash of the network. */
export interface ConsoleBlock {
  kind: "reporter" | "network";
  id: string;
  until: number;
}
