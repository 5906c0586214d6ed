import type { Db } from "#src/infrastructure/db.ts";
import type { OperatorRole } from "#src/operators/operators.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import { createPageClient, type PageClient } from "#test/flow/page-client.ts";
import { use } from "#test/harness/use.ts";

export type ConsoleClient = PageClient;

export const createConsoleClient = (baseUrl: string, cookie?: string): ConsoleClient =>
  createPageClient(baseUrl, "console", cookie);

/** A browser that has signed in; throws when that fails. */
export async function signIn(baseUrl: string, name: string): Promise<ConsoleClient> {
  const client = createConsoleClient(baseUrl);
  const answer = await client.post("/session", { name, password: testPassword });
  if (answer.status !== 201) throw new Error(`not signed in: ${JSON.stringify(answer.body)}`);
  return client;
}

/** A browser of a `describe` in which a new account has signed in. */
export const useAccount = (
  country: { db: Db },
  baseUrl: () => string,
  name = "olga",
  role?: OperatorRole,
): ConsoleClient =>
  use(
    async () => {
      await addOperator(country.db, name, role);
      return signIn(baseUrl(), name);
    },
    () => undefined,
  );
