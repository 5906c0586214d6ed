import { refused } from "#api/http/errors.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import type { Middleware } from "#api/http/route.ts";
import { mountOpenCalls, pageCall } from "#api/pages/page-calls.ts";
import { alertStop, alertWish, type AlertWishBody, myAlerts } from "#src/contract/shapes/alerts.ts";
import type { ShownAlerts } from "#src/contract/shapes/alert-radii.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import { deviceReporter, viewerHash } from "#src/marks/marks.ts";
import { alertsOf, askAlert, stopAlert, type Subscription } from "#src/pushes/alerts/devices.ts";
import { isTimeZone } from "#src/pushes/alerts/local-time.ts";
import { areKeysUsable, stopToken, vapidKeys } from "#src/pushes/alerts/vapid.ts";
import { createReceivers } from "#src/pushes/receivers.ts";

const metresAKm = 1000;

/**
 * `/alerts/…`: the notifications that drivers set on the operator's own map (decisions 15.25). They need no key and are
 * not metered: only our own pages may call, and each network is limited.
 */
export function alertCalls({ db, config, clock }: PageDeps): Middleware[] {
  const { reporterPepper: pepper } = config;
  const receivers = createReceivers(config);
  const { publicKey } = vapidKeys(pepper);
  const open = pageCall<null>();

  const shown = async (reporter: string): Promise<ShownAlerts> => ({
    alerts: (await alertsOf(db, reporter)).map(({ radius_m, ...alert }) => ({
      ...alert,
      radius_km: radius_m / metresAKm,
      token: stopToken(pepper, alert.id),
    })),
    key: publicKey,
    days: config.alertDays,
    per_day: config.alertsPerDay,
  });

  /** The subscription as it is kept. Throws a refusal (422) when nothing could be sent there. */
  const checked = async ({
    endpoint,
    keys,
  }: AlertWishBody["subscription"]): Promise<Subscription> => {
    const read = await receivers.read(endpoint);
    if ("fault" in read) throw unusable("endpoint", read.fault);
    if (!areKeysUsable(keys)) throw unusable("keys", "The keys are none of a browser");
    return { endpoint: read.url, keys: { p256dh: keys.p256dh, auth: keys.auth } };
  };

  const calls = [
    open("POST", "/mine", { body: myAlerts }, async (ctx) => {
      ctx.body = await shown(deviceReporter(pepper, ctx.state.body.device));
    }),
    open("POST", "/ask", { body: alertWish }, async (ctx) => {
      const { device, grade, lat, lon, radius_km, lang, time_zone, subscription } = ctx.state.body;
      const { likely = false } = ctx.state.body;
      const asker = {
        reporter: deviceReporter(pepper, device),
        viewer: viewerHash(pepper, viewerNetwork(ctx.state.ip)),
      };
      const wish = {
        ...{ grade, likely, lat, lon, lang, radius_m: radius_km * metresAKm },
        timeZone: time_zone !== undefined && isTimeZone(time_zone) ? time_zone : "",
        subscription: await checked(subscription),
      };
      if ((await askAlert(db, config, asker, wish, clock())) === "full")
        throw refused(
          "alert-limit",
          `This browser waits for ${config.alertsPerDevice} things already, or its network for as many as possible.`,
        );
      ctx.status = 201;
      ctx.body = await shown(asker.reporter);
    }),
    open("POST", "/stop", { body: alertStop }, async (ctx) => {
      const { id, token } = ctx.state.body;
      if (!(await stopAlert(db, config, id, token)))
        throw refused("not-found", "There is no such alert.");
      ctx.status = 204;
    }),
  ];
  return mountOpenCalls({ config, clock }, "/alerts", calls);
}

const unusable = (field: string, msg: string) =>
  refused("validation-failed", [
    { loc: ["body", "subscription", field], msg, type: "value_error" },
  ]);
