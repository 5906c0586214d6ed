import type { State, Step } from "#api/http/context.ts";
import type { Services } from "#api/http/services.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";

const bearer = /^bearer +([\w]+) *$/i;

/** 401 unless the request carries a key that is in force (partner-api.md 5). */
export function authenticate({ keys, meter }: Pick<Services, "keys" | "meter">): Step {
  const enter = (state: State, key: KeyInfo | null): Refusal | undefined => {
    if (key === null) return refuseStranger(state);
    state.key = key;
    return undefined;
  };
  const refuseStranger = (state: State): Refusal => {
    state.limits = meter.anonymous(viewerNetwork(state.ip));
    return invalidKey;
  };
  const lookUp = async (state: State, text: string): Promise<Refusal | undefined> => {
    try {
      return enter(state, await keys.find(text));
    } catch (error) {
      // Also when the key could not be looked up: every answer carries limits.
      refuseStranger(state);
      throw error;
    }
  };
  return (state) => {
    const text = bearer.exec(state.req.headers.authorization ?? "")?.[1];
    if (text === undefined) return refuseStranger(state);
    const known = keys.known(text);
    return known === undefined ? lookUp(state, text) : enter(state, known);
  };
}

const invalidKey: Refusal = refuse(
  "invalid-key",
  "Send `Authorization: Bearer <KEY>` with a key that is in force. A key that is wrong, revoked or expired is refused.",
  { headers: { "WWW-Authenticate": "Bearer" } },
);
