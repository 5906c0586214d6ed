import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import { hashKey, isOperatorKeyText, keyPrefix } from "#src/keys/key-text.ts";
import { isPassword } from "#src/operators/passwords.ts";

/** A viewer sees everything in the console and changes nothing. */
export const operatorRoles = ["viewer", "operator"] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** An account of the console, without its secrets. */
export interface Operator {
  id: number;
  name: string;
  role: OperatorRole;
  has_password: boolean;
  key_prefix: string | null;
  has_totp: boolean;
  disabled_at: Date | null;
  last_sign_in_at: Date | null;
  created_at: Date;
}

/** The secrets of an account, at most one of each. None is stored in plain text. */
export interface OperatorSecrets {
  /** `hashPassword` of a password. */
  password?: string | null;
  /** A key's text (`newKey("operator", …)`). */
  key?: string | null;
  /** `sealTotp` of its secret, beside a password. */
  totp?: Buffer | null;
}

const columns = `id, name, role, password is not null as has_password, key_prefix, totp_secret is not null as has_totp, disabled_at, last_sign_in_at, created_at`;

/** A new account; null when the name is taken, in any case. */
export async function createOperator(
  tx: Tx,
  { name, role, ...secrets }: Pick<Operator, "name" | "role"> & OperatorSecrets,
): Promise<Operator | null> {
  const [made] = await tx("operators")
    .insert({ name, role, ...storedSecrets(secrets) })
    .onConflict(tx.raw("(lower(name))") as never)
    .ignore()
    .returning<Operator[]>(tx.raw(columns) as never);
  return made ?? null;
}

export const listOperators = (db: Db | Tx): Promise<Operator[]> =>
  rows<Operator>(db, `select ${columns} from operators order by id`);

export async function findOperator(db: Db | Tx, name: string): Promise<Operator | null> {
  const sql = `select ${columns} from operators where lower(name) = lower(?)`;
  return (await rows<Operator>(db, sql, [name]))[0] ?? null;
}

export const operatorById = async (db: Db | Tx, id: number): Promise<Operator | null> =>
  (await rows<Operator>(db, `select ${columns} from operators where id = ?`, [id]))[0] ?? null;

/** Changes an account; null when there is none. Its role is read at each request, so a change is in force at once. */
export async function changeOperator(
  tx: Tx,
  id: number,
  { role, disabled, ...secrets }: { role?: OperatorRole; disabled?: boolean } & OperatorSecrets,
): Promise<Operator | null> {
  const now = tx.raw("server_now()");
  const disabled_at = disabled === undefined ? undefined : disabled ? now : null;
  const [changed] = await tx("operators")
    .where({ id })
    .update({ role, disabled_at, ...storedSecrets(secrets), updated_at: now })
    .returning<Operator[]>(tx.raw(columns) as never);
  return changed ?? null;
}

/** A name and a password, or a key. */
export type Credentials = { name: string; password: string } | { key: string };

/** An account with its secrets, only for their check. */
export interface SignInAccount extends Operator {
  /** `hashPassword` of its password. */
  password: string | null;
  /** `sealTotp`. */
  totp_secret: Buffer | null;
}

/** The account that somebody wants to sign in to; null for an unknown name or key. A key is proof by itself. */
export async function findToSignIn(
  db: Db,
  credentials: Credentials,
): Promise<SignInAccount | null> {
  const isKey = "key" in credentials;
  if (isKey && !isOperatorKeyText(credentials.key)) return null;
  const [where, value] = isKey
    ? ["key_hash = decode(?, 'hex')", hashKey(credentials.key)]
    : ["lower(name) = lower(?)", credentials.name];
  const sql = `select ${columns}, password, totp_secret from operators where ${where}`;
  return (await rows<SignInAccount>(db, sql, [value]))[0] ?? null;
}

/**
 * True when these credentials open the account that they found. It takes as long for an unknown name as for a wrong
 * password. A key has 256 random bits and cannot be guessed, so its look-up by a hash is enough.
 */
export async function opensAccount(
  found: SignInAccount | null,
  credentials: Credentials,
  isFirst = false,
): Promise<boolean> {
  const fits =
    "key" in credentials
      ? found !== null
      : await isPassword(credentials.password, found?.password ?? null, isFirst);
  return fits && found?.disabled_at === null;
}

/** True when these belong to an account that is not disabled. */
export const credentialsFit = async (db: Db, credentials: Credentials): Promise<boolean> =>
  opensAccount(await findToSignIn(db, credentials), credentials);

/**
 * Notes a sign-in now; false when the account was disabled or got other secrets meanwhile, and when `step` (of a TOTP
 * code) or a later one was used before.
 */
export async function noteSignIn(
  tx: Tx,
  { id, password, key_prefix, totp_secret }: SignInAccount,
  step: number | null,
): Promise<boolean> {
  const sql = `update operators set last_sign_in_at = server_now(), totp_step = coalesce(?, totp_step)
    where id = ? and disabled_at is null and password is not distinct from ?
      and key_prefix is not distinct from ? and totp_secret is not distinct from ?
      and coalesce(?::bigint > totp_step, true) returning id`;
  const same = [id, password, key_prefix, totp_secret];
  return (await rows(tx, sql, [step, ...same, step])).length > 0;
}

const storedSecrets = ({ password, key, totp }: OperatorSecrets) => ({
  password,
  totp_secret: totp,
  totp_step: totp === undefined ? undefined : null,
  key_hash: key && Buffer.from(hashKey(key), "hex"),
  key_prefix: key && keyPrefix(key),
});
