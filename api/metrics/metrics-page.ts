import { createHash, timingSafeEqual } from "node:crypto";
import { refused } from "#api/http/errors.ts";
import type { Context, PageRouter } from "#api/http/route.ts";
import { registerGauges } from "#api/metrics/gauges.ts";
import type { MetricsDeps } from "#api/metrics/deps.ts";
import { addressSet, plainAddress } from "#src/infrastructure/addresses.ts";

/** Loopback and the private networks, of IPv4 and IPv6. */
const near = addressSet([
  ...["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"],
  ...["::1", "fc00::/7", "fe80::/10"],
]);
const proxied = ["x-forwarded-for", "x-real-ip", "forwarded", "via"] as const;

/**
 * `GET /metrics` for Prometheus. METRICS_TOKEN, where it is set, is the bearer token to send; without it only
 * direct callers of the private networks are answered, so that a public proxy does not show it by accident.
 */
export function metricsPage(router: PageRouter, services: MetricsDeps): void {
  const { registry } = services.metrics;
  const mayLook = entrance(services.config.metricsToken);
  registerGauges(services);
  router.get("/metrics", async (ctx) => {
    // A proxy that refuses this path may not know its other spellings.
    if (ctx.path !== "/metrics" || !mayLook(ctx)) {
      throw refused(
        "invalid-key",
        "Set METRICS_TOKEN and send it as `Authorization: Bearer <token>`; without it, ask this process directly from its own network.",
        { headers: { "WWW-Authenticate": "Bearer" } },
      );
    }
    ctx.set({ "Content-Type": registry.contentType, "Cache-Control": "no-store" });
    ctx.body = await registry.metrics();
  });
}

function entrance(token: string): (ctx: Context) => boolean {
  if (token === "") {
    return ({ req }) =>
      near.has(plainAddress(req.socket.remoteAddress ?? "")) &&
      proxied.every((name) => req.headers[name] === undefined);
  }
  // Hashes have equal length, which the comparison demands.
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  const wanted = hash(`Bearer ${token}`);
  return ({ req }) => timingSafeEqual(hash(req.headers.authorization ?? ""), wanted);
}
