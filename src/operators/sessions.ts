import { hash, randomBytes } from "node:crypto";
import { isUnavailable, rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import { minuteMs } from "#src/domain/units.ts";
import { fromMs } from "#src/marks/marks.ts";

/**
 * The owner of a session: a partner, who entered with a key, or an operator. `link`: whoever has a link that a partner
 * has made with its key, which is the session itself (src/keys/reading-links.ts).
 */
export type SessionKind = "key" | "operator" | "link";

/** A browser that is signed in. `subject_id` is the key's or the operator's id. */
export interface Session {
  id: number;
  kind: SessionKind;
  subject_id: number;
  created_at: Date;
  expires_at: Date;
  /** Precise to the minute. */
  last_seen_at: Date;
  address: string;
  /** `User-Agent`, at most 200 characters. */
  agent: string;
  /** The reader of a link, as its maker has named it. */
  label: string;
  ended_at: Date | null;
}

const agentMax = 200;
const seenEveryMs = minuteMs;
const tokenForm = /^[\w-]{43}$/;
const columns =
  "id, kind, subject_id, created_at, expires_at, last_seen_at, address, agent, label" as const;

/** SHA-256 is enough, because a token is 32 random bytes. */
const hashToken = (token: string): Buffer => hash("sha256", token, "buffer");

/** Opens a session. Only the browser gets `token`; its hash is stored. `now` and `expiresAt` in ms. */
export async function openSession(
  db: Db | Tx,
  session: Pick<Session, "kind" | "address" | "agent"> &
    Record<"subjectId" | "now" | "lifeMs", number> & { label?: string },
): Promise<{ token: string; id: number; expiresAt: number }> {
  const { kind, subjectId, address, agent, label = "", now, lifeMs } = session;
  const token = randomBytes(32).toString("base64url");
  const expiresAt = now + lifeMs;
  const [stored] = await rows<{ id: number }>(
    db,
    `insert into sessions (kind, subject_id, hash, created_at, expires_at, last_seen_at, address, agent, label)
     values (?, ?, ?, ${fromMs}, ${fromMs}, ${fromMs}, ?, ?, ?) returning id`,
    [
      kind,
      subjectId,
      hashToken(token),
      now,
      expiresAt,
      now,
      address,
      agent.slice(0, agentMax),
      label,
    ],
  );
  return { token, id: stored!.id, expiresAt };
}

/**
 * The session with this token; null without one of these kinds, after its end, or when it was last seen `idleMs` ago, to
 * the minute. `isSeen` is false for a request that the page sends by itself.
 */
export async function findSession(
  db: Db | Tx,
  kinds: SessionKind | readonly SessionKind[],
  token: string,
  now: number,
  { idleMs = Infinity, isSeen = true }: { idleMs?: number; isSeen?: boolean } = {},
): Promise<FoundSession | null> {
  if (!tokenForm.test(token)) return null;
  const sql = `select ${columns} from sessions
     where hash = ? and kind = any(?::text[]) and ended_at is null and expires_at > ${fromMs}`;
  const [found] = await rows<Session>(db, sql, [hashToken(token), [kinds].flat(), now]);
  if (found === undefined) return null;
  const unseenMs = now - found.last_seen_at.getTime();
  if (unseenMs >= idleMs) return null;
  if (isSeen && unseenMs >= seenEveryMs) {
    const noted = rows(db, `update sessions set last_seen_at = ${fromMs} where id = ?`, [
      now,
      found.id,
    ]);
    // A database that takes no writes can be read all the same.
    await noted.catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
    });
  }
  const { id, kind, subject_id: subjectId, label } = found;
  return { id, kind, subjectId, label, expiresAt: found.expires_at.getTime() };
}

export interface FoundSession {
  id: number;
  kind: SessionKind;
  subjectId: number;
  /** ms */
  expiresAt: number;
  label: string;
}

/** Ends one session; false when it was over already. */
export async function endSession(db: Db | Tx, id: number): Promise<boolean> {
  const sql = `update sessions set ended_at = server_now() where ${live} and id = ? returning id`;
  return (await rows(db, sql, [id])).length > 0;
}

/** Ends all sessions of one key or operator. Returns their number. */
export async function endSessionsOf(
  db: Db | Tx,
  kind: SessionKind,
  subjectId: number,
): Promise<number> {
  const sql = `update sessions set ended_at = server_now() where ${live} and kind = ? and subject_id = ? returning id`;
  return (await rows(db, sql, [kind, subjectId])).length;
}

/** The sessions that are not over, of one key or operator or of all; the newest first. */
export const listSessions = (
  db: Db | Tx,
  kind: SessionKind,
  subjectId?: number,
): Promise<Session[]> =>
  rows<Session>(
    db,
    `select ${columns} from sessions
     where ${live} and kind = ? and subject_id = coalesce(?::integer, subject_id) order by id desc`,
    [kind, subjectId ?? null],
  );

/** Drops sessions that were over before `before` (ms). */
export const dropSessions = async (db: Db | Tx, before: number): Promise<void> => {
  await rows(db, `delete from sessions where least(expires_at, ended_at) < ${fromMs}`, [before]);
};

const live = "ended_at is null and expires_at > server_now()";
