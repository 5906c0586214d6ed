import type { EmbedKeyState } from "#src/contract/embed.ts";
import type { KeyStore } from "#src/keys/key-store.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";

/** The key of a map, wherever the map is to stand; or why there is none. Rejects when keys cannot be looked up. */
export async function judgeWidgetKey(
  keys: Pick<KeyStore, "find">,
  text: string,
): Promise<KeyInfo | Exclude<EmbedKeyState, "ok">> {
  if (text === "") return "no-key";
  if (text.startsWith("svc_")) return "secret-key";
  const key = await keys.find(text);
  if (key === null) return "invalid-key";
  if (key.kind === "secret") return "secret-key";
  return key.partner.enabled ? key : "partner-disabled";
}
