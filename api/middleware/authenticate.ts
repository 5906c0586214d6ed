import type { Context, Step } from "#api/context.ts";
import { setLimitHeaders } from "#api/limits.ts";
import type { Services } from "#api/services.ts";
import { viewerNetwork } from "#src/addresses.ts";
import { refuse } from "#src/domain/problems.ts";
import type { KeyInfo } from "#src/keys.ts";

const bearer = /^bearer +([\w]+) *$/i;

/** 401 unless the request carries a key that is in force (partner-api.md 5). */
export function authenticate({ keys, meter }: Services): Step {
  const find = async (ctx: Context): Promise<KeyInfo | null> => {
    const text = bearer.exec(ctx.get("Authorization"))?.[1];
    return text === undefined ? null : keys.find(text);
  };
  return async (ctx, next) => {
    let key: KeyInfo | null = null;
    try {
      key = await find(ctx);
    } finally {
      // Also when the key could not be looked up: every answer carries limits.
      if (key === null) setLimitHeaders(ctx, meter.anonymous(viewerNetwork(ctx.state.ip)));
    }
    if (key === null) {
      return refuse(
        "invalid-key",
        "Send `Authorization: Bearer <KEY>` with a key that is in force. A key that is wrong, revoked or expired is refused.",
        { headers: { "WWW-Authenticate": "Bearer" } },
      );
    }
    ctx.state.key = key;
    return next();
  };
}
