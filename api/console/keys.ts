import { randomBytes } from "node:crypto";
import { Type, type Static } from "typebox";
import { change, consoleCall, type ConsoleCall } from "#api/console/call.ts";
import { badField, line, moment, rowId, unknown } from "#api/console/fields.ts";
import type { Services } from "#api/http/services.ts";
import { boundAddress, boundDomain } from "#src/keys/bindings.ts";
import { keyRows } from "#src/keys/partner-reports.ts";
import { isRefusal, refuse, type Refusal } from "#src/contract/refusals.ts";
import {
  findKey,
  revokeKey,
  storeKey,
  updateKey,
  type KeySettings,
} from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey, type KeyKind } from "#src/keys/key-text.ts";
import { findPartner } from "#src/keys/partners.ts";

const idMax = 2_147_483_647;
const bindings = Type.Array(Type.String({ maxLength: 260 }), { maxItems: 200 });
const settings = {
  label: Type.Optional(line(0, 200)),
  domains: Type.Optional(bindings),
  ips: Type.Optional(bindings),
  confirm_min: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
  reports: Type.Optional(Type.Boolean()),
  mass_no_limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  expires: Type.Optional(Type.Union([moment, Type.Null()])),
};
const newSettings = Type.Object(settings);
const changes = Type.Object(settings, { minProperties: 1, additionalProperties: false });
const issue = Type.Object({
  partner_id: Type.Integer({ minimum: 1, maximum: idMax }),
  kind: Type.Union([Type.Literal("secret"), Type.Literal("publishable")]),
  ...settings,
});

/** Keys of partners: issue (the text is in this answer and nowhere else), change, revoke. */
export const keyCalls = ({ db, config, clock }: Services): ConsoleCall[] => [
  consoleCall({
    method: "POST",
    path: "/keys",
    role: "operator",
    body: issue,
    async handle({ viewer, body: { partner_id, kind, ...given } }) {
      const read = settingsFrom(kind, given, clock());
      if (isRefusal(read)) return read;
      const chosen = { mass_no_limit: config.massNoLimit, ...read };
      const key = newKey(kind, randomBytes(32));
      const row = { partner_id, kind, prefix: keyPrefix(key), hash: hashKey(key) };
      const stored = await change(db, viewer, async (tx) => {
        if ((await findPartner(tx, partner_id)) === null) return null;
        const value = await storeKey(tx, row, chosen);
        const details = { partner: partner_id, kind, prefix: row.prefix, ...chosen };
        return { value, did: { action: "key.issue", subject: `key ${value.id}`, details } };
      });
      if (stored === null) return unknown("partner");
      return { status: 201, body: { id: stored.id, key } };
    },
  }),
  consoleCall({
    method: "PATCH",
    path: "/keys/{id}",
    role: "operator",
    body: changes,
    async handle({ viewer, params, body }) {
      const id = keyId(params["id"]);
      const before = id === null ? null : await findKey(db, id);
      if (id === null || before === null) return unknown("key");
      const read = settingsFrom(before.kind, body, clock());
      if (isRefusal(read)) return read;
      const changed = await change(db, viewer, async (tx) => {
        const value = await updateKey(tx, id, read);
        const did = { action: "key.update", subject: `key ${id}`, details: { ...read } };
        return value === null ? null : { value, did };
      });
      if (changed === null) return revoked;
      const key = (await keyRows(db, changed.partner_id)).find((one) => one.id === id);
      return { body: { key } };
    },
  }),
  consoleCall({
    method: "POST",
    path: "/keys/{id}/revoke",
    role: "operator",
    async handle({ viewer, params }) {
      const id = keyId(params["id"]);
      if (id === null || (await findKey(db, id)) === null) return unknown("key");
      const done = await revokeKey(db, id, viewer.account.name);
      return done === null ? revoked : { status: 204, body: null };
    },
  }),
];

const revoked = refuse("already-done", "This key is revoked already.");

function keyId(text: string | undefined): number | null {
  const id = rowId(text);
  return id === null || id > idMax ? null : id;
}

/** A key's settings as they are stored, or which field cannot be taken. */
function settingsFrom(
  kind: KeyKind,
  { domains, ips, expires, confirm_min: confirmMin, label, ...rest }: Static<typeof newSettings>,
  now: number,
): Partial<KeySettings> | Refusal {
  if (confirmMin === 2) return badField("confirm_min", "0 for the usual rules, 1, or 3 and more");
  if (typeof expires === "number" && expires <= now) return badField("expires", "Is in the past");
  const [hosts, addresses] = [domains?.map(boundDomain), ips?.map(boundAddress)];
  if (hosts?.includes(null)) return badField("domains", `“${badOf(domains, hosts)}” is no domain`);
  if (addresses?.includes(null))
    return badField("ips", `“${badOf(ips, addresses)}” is no address or CIDR block`);
  if (kind === "secret" && hosts?.length)
    return badField("domains", "A secret key is bound to addresses, not to domains");
  if (kind === "publishable" && addresses?.length)
    return badField("ips", "A publishable key is bound to domains, not to addresses");
  const given = {
    ...rest,
    label: label?.trim(),
    confirm_min: confirmMin,
    domains: hosts === undefined ? undefined : [...new Set(hosts)],
    ips: addresses === undefined ? undefined : [...new Set(addresses)],
    expires_at: typeof expires === "number" ? new Date(expires) : expires,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const badOf = (given: readonly string[] = [], read: readonly (string | null)[]): string =>
  given[read.indexOf(null)] ?? "";
