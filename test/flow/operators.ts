import { inTransaction, type Db } from "#src/infrastructure/db.ts";
import { createOperator, type Operator, type OperatorRole } from "#src/operators/operators.ts";
import { hashPassword } from "#src/operators/passwords.ts";

export const testPassword = "correct horse battery";

/** An account of the console that signs in with `testPassword`. */
export async function addOperator(db: Db, name: string, role: OperatorRole): Promise<Operator> {
  const password = await hashPassword(testPassword);
  const made = await inTransaction(db, (tx) => createOperator(tx, { name, role, password }));
  if (made === null) throw new Error(`there is an account ${name} already`);
  return made;
}
