import { Type } from "typebox";
import { dashboardCall } from "#api/dashboard/viewer.ts";
import { askLimits, limitWish } from "#api/account/limit-requests.ts";
import { pathId } from "#api/account/webhooks.ts";
import { orThrow, refused } from "#api/http/errors.ts";
import type { DashboardDeps } from "#api/dashboard/deps.ts";
import type { KeyState, RotatedKey, ShownKey, ShownLimitRequest } from "#src/contract/dashboard.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { type IssuedKey, listKeys } from "#src/keys/issued-keys.ts";
import { overlapDays, rotateKey } from "#src/keys/rotation.ts";
import {
  type LimitRequest,
  listLimitRequests,
  withdrawLimitRequest,
} from "#src/limits/limit-requests.ts";
import { inMs, presented } from "#src/operators/presented.ts";

const requestsShown = 100;

/** The partner's keys, revoked ones included; never their texts, which are not stored. */
export const keysCall = ({ db, clock }: DashboardDeps) =>
  dashboardCall("GET", "/keys", { role: "reader" }, async (ctx) => {
    const { key } = ctx.state.viewer;
    const now = clock();
    const keys = await listKeys(db, key.partnerId);
    ctx.body = { keys: keys.map((issued) => shown(issued, key.id, now)) };
  });

function shown(key: IssuedKey, current: number, now: number): ShownKey {
  const { id, kind, prefix, label, domains, ips, reports, ...rest } = presented(key, inMs);
  const { created, expires, revoked, last_used } = rest;
  const state = stateOf(key, now);
  const times = { created, expires, revoked, last_used };
  return {
    id,
    kind,
    prefix,
    label,
    state,
    domains,
    ips,
    reports,
    ...times,
    current: id === current,
  };
}

const stateOf = ({ revoked_at, expires_at }: IssuedKey, now: number): KeyState =>
  revoked_at !== null
    ? "revoked"
    : expires_at !== null && expires_at.getTime() <= now
      ? "expired"
      : "in force";

const overlap = Type.Object(
  { days: Type.Integer({ minimum: overlapDays[0], maximum: overlapDays[1] }) },
  { additionalProperties: false },
);
const whyNot: Record<string, string> = {
  ending: "This key has an end already. Ask the operator for a new key.",
  new: "This key is less than a day old. Replace it tomorrow, or ask the operator.",
};

/** Replaces the key of this session (decisions 8.36). The new key is in this answer and nowhere else. */
export const rotateKeyCall = ({ db, clock }: DashboardDeps) =>
  dashboardCall("POST", "/keys/rotate", { body: overlap }, async (ctx) => {
    const { viewer, body } = ctx.state;
    const rotated = await rotateKey(db, viewer.key, body.days, clock());
    if (isRefusal(rotated)) {
      throw refused(
        "already-done",
        whyNot[rotated.about?.state ?? ""] ?? "This key is not in force any more.",
      );
    }
    const { key, text, ends } = rotated;
    ctx.status = 201;
    ctx.body = { id: key.id, key: text, old_ends: ends.getTime() } satisfies RotatedKey;
  });

/** The partner's limit requests, newest first. */
export const listLimitsCall = ({ db }: DashboardDeps) =>
  dashboardCall("GET", "/limit-requests", { role: "reader" }, async (ctx) => {
    const { key } = ctx.state.viewer;
    const requests = await listLimitRequests(db, { partner: key.partnerId }, requestsShown);
    ctx.body = { requests: requests.map(shownRequest) };
  });

/** Asks for other limits, as POST /limit-requests of the API does (docs/contract.md 3.3). */
export const askLimitsCall = ({ db }: DashboardDeps) =>
  dashboardCall("POST", "/limit-requests", { body: limitWish }, async (ctx) => {
    const { viewer, body } = ctx.state;
    const next = "Send another when it is decided.";
    const request = await askLimits(db, viewer.key.partnerId, body, next);
    ctx.status = 201;
    ctx.body = shownRequest(request);
  });

/** Takes a pending request back (decisions 12.15). */
export const withdrawLimitsCall = ({ db }: DashboardDeps) =>
  dashboardCall("DELETE", "/limit-requests/{id}", {}, async (ctx) => {
    const { partnerId } = ctx.state.viewer.key;
    const id = pathId(ctx.params["id"]);
    ctx.body = shownRequest(orThrow(await withdrawLimitRequest(db, partnerId, id)));
  });

function shownRequest(request: LimitRequest): ShownLimitRequest {
  const { partner_id: _partner, ...shown } = presented(request, inMs);
  return shown;
}
