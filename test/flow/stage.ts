import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { runOperator, type Ran } from "#test/harness/operator.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { type Client, createClient } from "#test/flow/client.ts";
import { type Country, openCountry } from "#test/flow/country.ts";

/** A country with the processes that serve it. */
export interface Stage {
  instance: TestInstance;
  country: Country;
  webs: RunningRole[];
  /** A test that replaces one puts the new one here. */
  workers: RunningRole[];
  /** The partner's, one for each web process. */
  clients: Client[];
  /** The command line, as Olga uses it, with `--json`. */
  operator(...args: string[]): Promise<Ran>;
  close(): Promise<void>;
}

/** A country of `stations` stations on a database of its own, and these roles; `web` more than once is more processes. */
export async function openStage(
  stations: number,
  names: readonly string[],
  settings: Record<string, string> = {},
): Promise<Stage> {
  const instance = await createTestInstance(settings);
  const country = await openCountry(instance.config, stations);
  const roles = await Promise.all(names.map((name) => startRole(name, instance.env)));
  const webs = roles.filter(({ role }) => role === "web");
  const workers = roles.filter(({ role }) => role !== "web");
  return {
    instance,
    country,
    webs,
    workers,
    clients: webs.map(({ baseUrl }) => createClient(baseUrl, country.secret)),
    operator: (...args) => runOperator(instance.env, ...args, "--json", "--actor", "olga"),
    close: async () => {
      await Promise.all([...webs, ...workers].map((role) => role.stop()));
      await country.close();
      await instance.drop();
    },
  };
}
