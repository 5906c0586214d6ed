import { named } from "#src/contract/shapes/kinds.ts";
import { type Static, Type } from "typebox";
import { alertRadiiKm } from "#src/contract/shapes/alert-radii.ts";
import { device } from "#src/contract/report.ts";
import { grades } from "#src/domain/vocabulary.ts";
import type { Grade } from "#src/domain/vocabulary.ts";

const base64url = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: "^[A-Za-z0-9_-]+=*$" });

/** `POST /alerts/mine`: the alerts of the viewer's device. The id of the device is the proof. */
export const myAlerts = named("MyAlerts", { device });

/** `POST /alerts/ask`: tell this browser when a station around has the grade (decisions 15.25). */
export const alertWish = named("AlertWish", {
  device,
  grade: Type.Unsafe<Grade>(Type.Union(grades.map((grade) => Type.Literal(grade)))),
  lat: Type.Number({ minimum: -90, maximum: 90 }),
  lon: Type.Number({ minimum: -180, maximum: 180 }),
  radius_km: Type.Unsafe<(typeof alertRadiiKm)[number]>(
    Type.Union(alertRadiiKm.map((km) => Type.Literal(km))),
  ),
  likely: Type.Optional(Type.Boolean()),
  lang: Type.Union([Type.Literal("ru"), Type.Literal("en")]),
  time_zone: Type.Optional(Type.String({ maxLength: 64 })),
  subscription: Type.Object({
    endpoint: Type.String({ minLength: 1, maxLength: 1000 }),
    keys: Type.Object({ p256dh: base64url(100), auth: base64url(40) }),
  }),
});
export type AlertWishBody = Static<typeof alertWish>;

/** `POST /alerts/stop`: the token came with the notification, and with the list. */
export const alertStop = named("AlertStop", {
  id: Type.Integer({ minimum: 1 }),
  token: Type.String({ minLength: 1, maxLength: 64 }),
});
