import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import { hashKey, isOperatorKeyText, keyPrefix } from "#src/keys/key-text.ts";
import { isPassword } from "#src/operators/passwords.ts";

/** A viewer sees everything in the console and changes nothing. */
export const operatorRoles = ["viewer", "operator"] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** An account of the console, without what it signs in with. */
export interface Operator {
  id: number;
  name: string;
  role: OperatorRole;
  has_password: boolean;
  key_prefix: string | null;
  disabled_at: Date | null;
  last_sign_in_at: Date | null;
  created_at: Date;
}

/** What an account signs in with; each at most once. Neither is stored as it is. */
export interface OperatorSecrets {
  /** `hashPassword` of a password. */
  password?: string | null;
  /** A key's text (`newKey("operator", …)`). */
  key?: string | null;
}

const columns = `id, name, role, password is not null as has_password, key_prefix, disabled_at, last_sign_in_at, created_at`;

/** A new account; null when the name is taken, whatever its case. */
export async function createOperator(
  tx: Tx,
  { name, role, ...secrets }: Pick<Operator, "name" | "role"> & OperatorSecrets,
): Promise<Operator | null> {
  const stored = storedSecrets(secrets);
  const sql = `insert into operators (name, role, password, key_hash, key_prefix) values (?, ?, ?, decode(?, 'hex'), ?)
    on conflict (lower(name)) do nothing returning ${columns}`;
  const values = [
    name,
    role,
    stored.password ?? null,
    stored.key_hash ?? null,
    stored.key_prefix ?? null,
  ];
  return (await rows<Operator>(tx, sql, values))[0] ?? null;
}

export const listOperators = (db: Db | Tx): Promise<Operator[]> =>
  rows<Operator>(db, `select ${columns} from operators order by id`);

export const findOperator = async (db: Db | Tx, name: string): Promise<Operator | null> =>
  (
    await rows<Operator>(db, `select ${columns} from operators where lower(name) = lower(?)`, [
      name,
    ])
  )[0] ?? null;

export const operatorById = async (db: Db | Tx, id: number): Promise<Operator | null> =>
  (await rows<Operator>(db, `select ${columns} from operators where id = ?`, [id]))[0] ?? null;

/** Changes an account; null when there is none. What it may from now on do is asked anew at each request. */
export async function changeOperator(
  tx: Tx,
  id: number,
  { role, disabled, ...secrets }: { role?: OperatorRole; disabled?: boolean } & OperatorSecrets,
): Promise<Operator | null> {
  const { password, key_hash: keyHash, key_prefix: prefix } = storedSecrets(secrets);
  const changes = {
    role,
    password,
    key_hash: keyHash === undefined || keyHash === null ? keyHash : Buffer.from(keyHash, "hex"),
    key_prefix: prefix,
    disabled_at: disabled === undefined ? undefined : disabled ? tx.raw("server_now()") : null,
    updated_at: tx.raw("server_now()"),
  };
  const given = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  );
  const [changed] = await tx("operators")
    .where({ id })
    .update(given)
    .returning<Operator[]>(tx.raw(columns) as never);
  return changed ?? null;
}

/** Who signs in with a name and a password, or with a key. */
export type Credentials = { name: string; password: string } | { key: string };

/** Signs in: the account that these belong to, with the time noted; null for none (`credentialsFit`). */
export async function signInOperator(db: Db, given: Credentials): Promise<Operator | null> {
  const id = await accountOf(db, given);
  if (id === null) return null;
  const sql = `update operators set last_sign_in_at = server_now() where id = ? and disabled_at is null returning ${columns}`;
  return (await rows<Operator>(db, sql, [id]))[0] ?? null;
}

/**
 * True when these belong to an account that is not disabled. It takes as long for a name that nobody has as for a
 * wrong password.
 */
export async function credentialsFit(db: Db, given: Credentials): Promise<boolean> {
  const id = await accountOf(db, given);
  return id !== null && (await operatorById(db, id))?.disabled_at === null;
}

const accountOf = (db: Db, given: Credentials): Promise<number | null> =>
  "key" in given ? byKey(db, given.key) : byPassword(db, given);

// A key holds 256 random bits: there is nothing to guess, so a look-up by its hash is enough.
async function byKey(db: Db, key: string): Promise<number | null> {
  if (!isOperatorKeyText(key)) return null;
  const sql = "select id from operators where key_hash = decode(?, 'hex')";
  return (await rows<{ id: number }>(db, sql, [hashKey(key)]))[0]?.id ?? null;
}

async function byPassword(
  db: Db,
  { name, password }: { name: string; password: string },
): Promise<number | null> {
  const sql = "select id, password from operators where lower(name) = lower(?)";
  const [found] = await rows<{ id: number; password: string | null }>(db, sql, [name]);
  return (await isPassword(password, found?.password ?? null)) ? (found?.id ?? null) : null;
}

function storedSecrets({ password, key }: OperatorSecrets) {
  return {
    password,
    key_hash: key === undefined || key === null ? key : hashKey(key),
    key_prefix: key === undefined || key === null ? key : keyPrefix(key),
  };
}
