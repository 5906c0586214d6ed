import { isRefusal, refuse, type Refusal } from "#src/contract/refusals.ts";
import { dayMs } from "#src/domain/units.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { act, already, unknown } from "#src/operators/act.ts";
import { endSession, openSession, type Session } from "#src/operators/sessions.ts";

/** Least and most days until a link ends. */
export const linkDays = [1, 365] as const;
/** Links of one partner that are not over. */
const linksMax = 20;

/** A link that shows the dashboard and changes nothing: a session of the kind `link`, of the key that made it. */
export type ReadingLink = Pick<
  Session,
  "id" | "label" | "created_at" | "expires_at" | "last_seen_at" | "ended_at"
> & {
  /** First characters of the key that made it, with which it ends. */
  prefix: string;
};

/**
 * Makes a link that ends after `days`, or with its key. `token` is given only here. Refused for a partner that has 20.
 * `now` in ms.
 */
export const makeLink = (
  db: Db,
  key: { id: number; partnerId: number; expiresAt: number | null },
  { label, days }: { label: string; days: number },
  now: number,
): Promise<{ id: number; token: string; expiresAt: number } | Refusal> =>
  act(db, `partner ${key.partnerId}`, async (tx) => {
    // Two at the same moment are counted one after the other.
    await rows(tx, "select from partners where id = ? for no key update", [key.partnerId]);
    const live = (await listLinks(tx, key.partnerId)).filter(
      ({ ended_at, expires_at }) => ended_at === null && expires_at.getTime() > now,
    );
    if (live.length >= linksMax)
      return refuse("already-done", `There are ${linksMax} links already. End one of them first.`);
    const lifeMs = Math.min(days * dayMs, (key.expiresAt ?? Infinity) - now);
    const nobody = { address: "", agent: "" };
    const session = { kind: "link", subjectId: key.id, ...nobody, label, now, lifeMs } as const;
    const value = await openSession(tx, session);
    return {
      ...{ value, action: "link.make", subject: `link ${value.id}` },
      // Without its label, which may be a person's name: the log is kept for good.
      details: { partner: key.partnerId, key: key.id, ends: new Date(value.expiresAt) },
    };
  });

/** Ends a link of the partner at once, in every browser. */
export const endLink = async (db: Db, partnerId: number, id: number): Promise<Refusal | null> => {
  const done = await act(db, `partner ${partnerId}`, async (tx) => {
    const link = (await listLinks(tx, partnerId)).find((one) => one.id === id);
    if (link === undefined) return unknown("link", id);
    if (!(await endSession(tx, id))) return already("link", id, "over");
    const details = { partner: partnerId };
    return { value: link, action: "link.end", subject: `link ${id}`, details };
  });
  return isRefusal(done) ? done : null;
};

/** The partner's links, the newest first, as long as their rows are kept: also those that are over. */
export const listLinks = (
  db: Parameters<typeof rows>[0],
  partnerId: number,
): Promise<ReadingLink[]> =>
  rows<ReadingLink>(
    db,
    `select s.id, s.label, s.created_at, s.expires_at, s.last_seen_at, s.ended_at, k.prefix
     from sessions s join keys k on k.id = s.subject_id
     where s.kind = 'link' and k.partner_id = ? order by s.id desc`,
    [partnerId],
  );
