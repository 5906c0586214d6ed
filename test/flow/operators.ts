import { randomBytes, scryptSync } from "node:crypto";
import { inTransaction, type Db } from "#src/infrastructure/db.ts";
import { createOperator, type Operator, type OperatorRole } from "#src/operators/operators.ts";

export const testPassword = "correct horse battery";

/** `testPassword` as it is stored, at a thousandth of the usual cost. */
export const cheapHash = (): string => {
  const salt = randomBytes(16);
  const made = scryptSync(testPassword, salt, 32, { N: 32, r: 8, p: 1 });
  return ["scrypt", 32, 8, 1, salt.toString("base64url"), made.toString("base64url")].join("$");
};

/** An account of the console that signs in with `testPassword`, which costs nothing to check. */
export async function addOperator(
  db: Db,
  name: string,
  role: OperatorRole = "operator",
): Promise<Operator> {
  const account = { name, role, password: cheapHash() };
  const made = await inTransaction(db, (tx) => createOperator(tx, account));
  if (made === null) throw new Error(`there is an account ${name} already`);
  return made;
}
