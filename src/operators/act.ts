import { inTransaction, type Db, type Tx } from "#src/infrastructure/db.ts";
import { logAction, type OperatorAction } from "#src/operators/operator-log.ts";

/** Why an act was not done. Nothing was changed, and the operator's log has no entry of it. */
export type NotDone =
  /** There is no partner, key, mark … of this id. */
  | { notDone: "unknown"; what: string; id: number | string }
  /** Nothing is left to do: the key is `revoked`, the request `approved`, the mark not held any more. */
  | { notDone: "already"; what: string; id: number | string; state: string }
  /** Something else has changed since. `why` ends a sentence that begins with what and which: "is held: …". */
  | { notDone: "changed"; what: string; id: number | string; why: string }
  /** What was selected is more than anybody may ask for at once. `why` says of which conditions. */
  | { notDone: "wide"; why: string }
  /** One field of the input cannot be taken. */
  | { notDone: "invalid"; field: string; why: string };

/** What an act gives to its caller, and what the operator's log says of it. */
export type Done<T> = Omit<OperatorAction, "actor"> & { value: T };

export const isNotDone = (value: object): value is NotDone => "notDone" in value;

export const unknown = (what: string, id: number | string): NotDone => ({
  notDone: "unknown",
  what,
  id,
});

export const invalid = (field: string, why: string): NotDone => ({
  notDone: "invalid",
  field,
  why,
});

/** Does one act of an operator and writes it to the operator's log, in one transaction. */
export const act = <T extends object>(
  db: Db,
  actor: string,
  work: (tx: Tx) => Promise<Done<T> | NotDone>,
): Promise<T | NotDone> =>
  inTransaction(db, async (tx) => {
    const done = await work(tx);
    if (isNotDone(done)) return done;
    const { value, ...entry } = done;
    await logAction(tx, { actor, ...entry });
    return value;
  });
