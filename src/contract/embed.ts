/** `ok` if the map can be embedded with a key, else the reason: the codes of docs/contract.md 5.7. */
export type EmbedKeyState =
  | "ok"
  | "no-key"
  | "invalid-key"
  | "secret-key"
  | "partner-disabled"
  | "unavailable";

/** The answer of `GET /widget/embed/key` to the embed page about a publishable key. */
export interface EmbedKey {
  state: EmbedKeyState;
  /** The map may stand on these domains and their subdomains. */
  domains: readonly string[];
  /** True if the map takes marks with this key. */
  reports: boolean;
}
