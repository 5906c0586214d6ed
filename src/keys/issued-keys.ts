import { randomBytes } from "node:crypto";
import { type Static, Type } from "typebox";
import type { ConsoleKey } from "#src/contract/console.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import { normalDomain } from "#src/contract/hosts.ts";
import { boundAddress } from "#src/infrastructure/addresses.ts";
import { hashKey, keyPrefix, newKey, type KeyKind } from "#src/keys/key-text.ts";
import { announceKeys, findPartner } from "#src/keys/partners.ts";
import {
  already,
  changedSince,
  type Done,
  invalid,
  noId,
  nothing,
  operatorAct,
  unknown,
} from "#src/operators/act.ts";
import { changeOf, undoOf } from "#src/operators/operator-log.ts";
import { line, moment, oneOf, orNull, rowId, seenValues, within } from "#src/operators/inputs.ts";
import { endSessionsOf } from "#src/operators/sessions.ts";

/** A key as the operator sees it: never its text, which is shown once and not stored. */
export interface IssuedKey extends Omit<
  ConsoleKey,
  "limited_until" | "created" | "expires" | "revoked" | "last_used"
> {
  limited_until: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
}

type Settings = Pick<
  IssuedKey,
  "label" | "domains" | "ips" | "confirm_min" | "reports" | "mass_no_limit" | "expires_at"
>;

/** A key's settings as they are stored. */
export type KeySettings = { [Name in keyof Settings]?: Settings[Name] | undefined };

const bindings = Type.Array(Type.String({ maxLength: 260 }), { maxItems: 200 });
const massNoLimit = within(1, 1_000_000);
const wishes = {
  label: Type.Optional(line(0, 200)),
  domains: Type.Optional(bindings),
  ips: Type.Optional(bindings),
  confirm_min: Type.Optional(within(0, 1000)),
  reports: Type.Optional(Type.Boolean()),
  mass_no_limit: Type.Optional(massNoLimit),
  /** ms; null for never. */
  expires: Type.Optional(orNull(moment)),
};
const changes = Type.Object(
  { ...wishes, was: seenValues },
  { minProperties: 1, additionalProperties: false },
);
const newKeyWish = Type.Object({
  partner_id: rowId,
  kind: oneOf(["secret", "publishable"]),
  ...wishes,
});
/** `until` in ms; null ends the limit. */
const limit = Type.Object(
  { to: massNoLimit, until: orNull(moment) },
  { additionalProperties: false },
);

/** A key's settings as an operator gives them. */
export type KeyWish = Omit<Static<typeof changes>, "was">;

/**
 * Issues a key to a partner. `text` is the key itself, which is given only once. `bound` is false when the partner's
 * switch keeps its keys' addresses from holding.
 */
export const issueKey = operatorAct(newKeyWish, noId, async (tx, asked, _, { now, config }) => {
  const { partner_id, kind, ...wish } = asked;
  const settings = checkSettings(kind, wish, now);
  if (isRefusal(settings)) return settings;
  const partner = await findPartner(tx, partner_id);
  if (partner === null) return unknown("partner", partner_id);
  const text = newKey(kind, randomBytes(32));
  const chosen = { ...settings, mass_no_limit: settings.mass_no_limit ?? config.massNoLimit };
  const { value: key, ...entry } = await addKey(tx, { partner_id, kind, text }, chosen);
  return { value: { key, text, bound: partner.bind_ips }, ...entry };
});

/** Stores a key with a known text. Gives it with its entry for the operator's log. */
export async function addKey(
  tx: Tx,
  { partner_id, kind, text }: { partner_id: number; kind: KeyKind; text: string },
  settings: KeySettings,
): Promise<Done<IssuedKey>> {
  const prefix = keyPrefix(text);
  const value = await storeKey(tx, { partner_id, kind, prefix, hash: hashKey(text) }, settings);
  const details = { partner: partner_id, kind, prefix, ...settings };
  return { value, action: "key.issue", subject: `key ${value.id}`, details };
}

/** Changes a key's settings; in force on every process within 15 s. */
export const changeKey = operatorAct(changes, rowId, async (tx, { was, ...wish }, id, { now }) => {
  const before = await findKey(tx, id, "for no key update");
  if (before === null) return unknown("key", id);
  const details = changedSince(was, before) ?? checkSettings(before.kind, wish, now);
  if (isRefusal(details)) return details;
  const value = await updateKey(tx, id, details);
  if (value === null) return alreadyRevoked(id);
  const change = changeOf(before, value, Object.keys(details) as (keyof IssuedKey)[]);
  const { expires_at: expires, ...others } = change.before;
  const former =
    expires === undefined ? others : { ...others, expires: expires?.getTime() ?? null };
  return {
    ...{ value, action: "key.update", subject: `key ${id}`, details: change },
    undo: undoOf(`/keys/${id}`, former, change.after),
  };
});

/**
 * Sets how many stations a key may harmfully change in an hour until a time in ms (decisions 4.22); null ends that. In force on every process within 15 s.
 */
export const limitKey = operatorAct(limit, rowId, async (tx, { to, until }, id, { now }) => {
  if (until !== null && until <= now) return invalid("until", "Is in the past");
  const details = {
    limited_to: until === null ? null : to,
    limited_until: until === null ? null : new Date(until),
  };
  const value = await updateKey(tx, id, details);
  if (value === null)
    return (await findKey(tx, id)) === null ? unknown("key", id) : alreadyRevoked(id);
  const undo =
    until === null ? null : { path: `/keys/${id}/limit`, body: { to, until: null }, until };
  return { value, action: "key.limit", subject: `key ${id}`, details, undo };
});

/** Ends a key for good within 15 s, and at once the dashboard's sessions and links of it. */
export const revokeKey = operatorAct(nothing, rowId, async (tx, _, id) => {
  const value = await updateKey(tx, id, { revoked_at: tx.raw("server_now()") });
  if (value === null)
    return (await findKey(tx, id)) === null ? unknown("key", id) : alreadyRevoked(id);
  await endSessionsOf(tx, "key", id);
  await endSessionsOf(tx, "link", id);
  return { value, action: "key.revoke", subject: `key ${id}` };
});

export function alreadyRevoked(id: number): Refusal {
  return already("key", id, "revoked");
}

/** A key's settings in their stored form, or the fault of one of them. */
function checkSettings(kind: KeyKind, wish: KeyWish, now: number): KeySettings | Refusal {
  const { expires, ...others } = wish;
  if (wish.confirm_min === 2)
    return invalid("confirm_min", "Must be 0 for the usual rules, 1, or 3 and more");
  if (typeof expires === "number" && expires <= now) return invalid("expires", "Is in the past");
  const domains = readAll(wish.domains, boundDomain);
  if (domains.bad !== undefined)
    return invalid("domains", `“${domains.bad}” is no domain: give it alone, like maps.example`);
  const wide = wish.domains?.find(isOneLabel);
  if (wide !== undefined)
    return invalid(
      "domains",
      `“${wide}” would be all websites below it: give a whole domain, like maps.example`,
    );
  const ips = readAll(wish.ips, boundAddress);
  if (ips.bad !== undefined) return invalid("ips", `“${ips.bad}” is no address or CIDR block`);
  if (kind === "secret" && domains.read?.length)
    return invalid("domains", "A secret key is bound to addresses, not to domains");
  if (kind === "publishable" && ips.read?.length)
    return invalid("ips", "A publishable key is bound to domains, not to addresses");
  return {
    ...others,
    label: wish.label?.trim(),
    domains: domains.read,
    ips: ips.read,
    expires_at: typeof expires === "number" ? new Date(expires) : expires,
  };
}

/** `https://Б.рф/` → `xn--90a.xn--p1ai`. A scheme, a leading `*.` and a trailing dot are removed; null for no domain. */
export function boundDomain(entry: string): string | null {
  const host = entry
    .replace(/^https?:\/\//i, "")
    .replace(/^\*\./, "")
    .replace(/\/$/, "");
  const normal = /[/@?#\\*\s]/.test(host) ? null : normalDomain(host);
  const usable = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$|^\[/;
  return normal === null || normal.length > 253 || !usable.test(normal) ? null : normal;
}

/** True for a domain such as `com`, which has every website below it. */
const isOneLabel = (entry: string): boolean => {
  const domain = boundDomain(entry) ?? "";
  return /^[^.:]+$/.test(domain) && domain !== "localhost";
};

/** Each entry once in its stored form, or the first invalid entry. */
function readAll(
  entries: readonly string[] | undefined,
  parse: (entry: string) => string | null,
): { read?: string[]; bad?: string } {
  const read = new Set<string>();
  for (const entry of entries ?? []) {
    const parsed = parse(entry);
    if (parsed === null) return { bad: entry };
    read.add(parsed);
  }
  return entries === undefined ? {} : { read: [...read] };
}

const columns = `id, partner_id, kind, prefix, label, domains, ips, confirm_min, reports, mass_no_limit,
  limited_to, limited_until, expires_at, revoked_at, last_used_at, created_at`;

/** Stores a new key of a partner that exists; `hash` is `hashKey` of its text. */
export async function storeKey(
  tx: Tx,
  key: { partner_id: number; kind: KeyKind; prefix: string; hash: string },
  settings: KeySettings,
): Promise<IssuedKey> {
  const { hash, ...shown } = key;
  const [stored] = await tx("keys")
    .insert({ ...shown, ...settings, hash: Buffer.from(hash, "hex") })
    .returning<IssuedKey[]>(tx.raw(columns) as never);
  await announceKeys(tx);
  return stored!;
}

/** All keys, or those of one partner, revoked ones included. */
export const listKeys = (db: Db | Tx, partnerId?: number): Promise<IssuedKey[]> =>
  rows<IssuedKey>(
    db,
    `select ${columns} from keys where partner_id = coalesce(?::integer, partner_id) order by id`,
    [partnerId ?? null],
  );

export const findKey = async (
  db: Db | Tx,
  id: number,
  lock: "for no key update" | "" = "",
): Promise<IssuedKey | null> =>
  (await rows<IssuedKey>(db, `select ${columns} from keys where id = ? ${lock}`, [id]))[0] ?? null;

/** Changes the row of a key that is not revoked; null when there is none. */
async function updateKey(tx: Tx, id: number, changes: object): Promise<IssuedKey | null> {
  const [key] = await tx("keys")
    .where({ id, revoked_at: null })
    .update({ ...changes, updated_at: tx.raw("server_now()") })
    .returning<IssuedKey[]>(tx.raw(columns) as never);
  await announceKeys(tx);
  return key ?? null;
}
