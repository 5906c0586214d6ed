/** Whether the map can be embedded with a key, and if not why: the codes of docs/contract.md 5.7. */
export type EmbedKeyState =
  | "ok"
  | "no-key"
  | "invalid-key"
  | "secret-key"
  | "partner-disabled"
  | "unavailable";

/** What `GET /widget/embed/key` tells the embed page of a publishable key. */
export interface EmbedKey {
  state: EmbedKeyState;
  /** Where the map may stand: these domains and their subdomains. */
  domains: readonly string[];
  /** Whether the map takes marks with this key. */
  reports: boolean;
}
