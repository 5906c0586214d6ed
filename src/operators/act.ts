import { isDeepStrictEqual } from "node:util";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import { refuse, type Refusal, isRefusal } from "#src/contract/refusals.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { inTransaction, type Db, type Tx } from "#src/infrastructure/db.ts";
import { changeSince, logAction, type OperatorAction } from "#src/operators/operator-log.ts";

/** The result of an act for its caller, with its entry for the operator's log. */
export type Done<T> = Omit<OperatorAction, "actor"> & {
  value: T;
  /** Stations with work for the marks workers after the commit. */
  touched?: readonly string[];
};

/** For an unknown id of a partner, key, mark … */
export const unknown = (what: string, id: number | string): Refusal =>
  refuse("not-found", `There is no such ${what}.`, { about: { what, id } });

/** Nothing is left to do: the key is `revoked`, the request `approved`, the mark not held any more. */
export const already = (what: string, id: number | string, state: string): Refusal =>
  refuse("already-done", `This ${what.split(" ").at(-1)} is ${state} already.`, {
    about: { what, id, state },
  });

/** Something else has changed since. `why` ends a sentence that begins with the subject: "is held: …". */
export function changed(what: string, id: number | string, why: string): Refusal {
  const sentence = `${what} ${id} ${why}.`;
  const detail = sentence.charAt(0).toUpperCase() + sentence.slice(1);
  return refuse("already-done", detail, { about: { what, id, why } });
}

/** A refusal if one of the values that the caller has seen is another in `row` now. */
export function changedSince(was: object = {}, row: object): Refusal | null {
  const now = JSON.parse(JSON.stringify(row)) as Record<string, unknown>;
  const stale = Object.entries(was).find(([name, value]) => !isDeepStrictEqual(value, now[name]));
  if (stale === undefined) return null;
  return invalid(stale[0], `Has changed meanwhile: it is now ${JSON.stringify(now[stale[0]])}`);
}

/** One field of the input cannot be taken. */
export const invalid = (field: string, why: string): Refusal =>
  refuse("validation-failed", [{ loc: ["body", field], msg: why, type: "value_error" }]);

/** Does one act of an operator and writes it to the operator's log, in one transaction. A refused one changes nothing. */
export const act = <T extends object>(
  db: Db,
  actor: string,
  work: (tx: Tx) => Promise<Done<T> | Refusal>,
): Promise<T | Refusal> =>
  inTransaction(db, async (tx) => {
    const done = await work(tx);
    if (isRefusal(done)) return done;
    const { value, ...entry } = done;
    await logAction(tx, { actor, ...entry });
    return value;
  });

/** The actor, place and time of an act. */
export interface By {
  db: Db;
  actor: string;
  config: Pick<Config, "defaultRpm" | "defaultDaily" | "massNoLimit">;
  /** ms. */
  now: number;
  /** The entry of the log that this act takes back: the act is refused if a later entry has changed the same. */
  after?: number;
  /** Tells the marks workers to look at stations. */
  wake(stationIds: readonly string[]): Promise<void> | void;
}

/** An act with the schemas of its input, from which the command line and the console are made. */
export type Act<Input extends TObject, Id extends TSchema, T extends object> = ((
  by: By,
  input: Static<Input>,
  id: Static<Id>,
) => Promise<T | Refusal>) & { input: Input; id: Id };

/** Input of an act that needs only the id of its subject, and id of an act without a subject. */
export const nothing = Type.Object({});
export const noId = Type.Void();

/** Rolls back an act that would take back what somebody has changed since. */
class Overtaken extends Error {
  readonly why: Parameters<typeof changed>;

  constructor({ subject, actor, action }: OperatorAction) {
    super("overtaken");
    const [what = "", ...id] = subject.split(" ");
    this.why = [what, id.join(" "), `was changed by ${actor} meanwhile (${action})`];
  }
}

/** Makes an act from the schemas of its fields (`input`) and of its subject's id. */
export const operatorAct = <Input extends TObject, Id extends TSchema, T extends object>(
  input: Input,
  id: Id,
  work: (tx: Tx, input: Static<Input>, id: Static<Id>, by: By) => Promise<Done<T> | Refusal>,
): Act<Input, Id, T> =>
  Object.assign(
    async (by: By, given: Static<Input>, subject: Static<Id>) => {
      let touched: readonly string[] = [];
      const done = await act(by.db, by.actor, async (tx) => {
        const made = await work(tx, given, subject, by);
        if (isRefusal(made)) return made;
        // Asked under the locks of the work, which a faster operator's act has held until its commit.
        const since = by.after === undefined ? null : await changeSince(tx, by.after);
        if (since !== null) throw new Overtaken(since);
        touched = made.touched ?? [];
        return made;
      }).catch((error: unknown) => {
        if (error instanceof Overtaken) return changed(...error.why);
        throw error;
      });
      if (touched.length > 0) await by.wake(touched);
      return done;
    },
    { input, id },
  );
