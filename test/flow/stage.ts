import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { runOperator, type Ran } from "#test/harness/operator.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { type Settings, settingsOf, use } from "#test/harness/use.ts";
import { type Client, createClient } from "#test/flow/client.ts";
import { type Country, openCountry } from "#test/flow/country.ts";

/** A country with the processes that serve it. */
export interface Stage<Role extends RunningRole = RunningRole> {
  instance: TestInstance;
  country: Country;
  webs: Role[];
  /** The first of them. */
  web: Role;
  /** A test that replaces one puts the new one here. */
  workers: Role[];
  /** The partner's, one for each web process. */
  clients: Client[];
  /** The first of them. */
  client: Client;
  /** Those of the partner's pages, with its publishable key, one for each web process. */
  pages: Client[];
  /** The first of them. */
  page: Client;
  /** The command line, as Olga uses it, with `--json`. */
  operator(...args: string[]): Promise<Ran>;
  close(): Promise<void>;
}

type Start<Role> = (name: string, env: Record<string, string>) => Promise<Role>;

/**
 * A country of `stations` stations on a database of its own, and these roles; `web` more than once is more processes.
 *
 * @param start what starts a role: `startRoleProcess` for roles that a test kills
 */
export async function openStage<Role extends RunningRole = RunningRole>(
  stations: number,
  names: readonly string[],
  settings: Record<string, string> = {},
  start = startRole as unknown as Start<Role>,
): Promise<Stage<Role>> {
  const instance = await createTestInstance(settings);
  const country = await openCountry(instance.config, stations);
  const roles = await Promise.all(names.map((name) => start(name, instance.env)));
  const webs = roles.filter(({ role }) => role === "web");
  const workers = roles.filter(({ role }) => role !== "web");
  const clientsOf = (key: string) => webs.map(({ baseUrl }) => createClient(baseUrl, key));
  const [clients, pages] = [clientsOf(country.secret), clientsOf(country.publishable)];
  const firsts = { web: webs[0]!, client: clients[0]!, page: pages[0]! };
  const operator = operatorOf(instance);
  const stage = { instance, country, webs, workers, clients, pages, ...firsts, operator };
  return { ...stage, close: () => closeStage(stage) };
}

/** The stage of a `describe`: `const { country, client } = useStage(12, ["web", "marks"])`. */
export function useStage<Role extends RunningRole = RunningRole>(
  stations: number,
  names: readonly string[],
  settings: Settings = {},
  start?: Start<Role>,
): Stage<Role> {
  const webs = names.filter((name) => name === "web");
  const blanks = (): object[] => webs.map(() => ({}));
  const instance = {} as TestInstance;
  return use(() => openStage(stations, names, settingsOf(settings), start), closeStage, {
    ...{ instance, operator: operatorOf(instance), country: {}, web: {}, client: {}, page: {} },
    ...{ webs: blanks(), workers: [], clients: blanks(), pages: blanks() },
  });
}

const operatorOf =
  (instance: TestInstance): Stage["operator"] =>
  (...args) =>
    runOperator(instance.env, ...args, "--json", "--actor", "olga");

async function closeStage(
  stage: Pick<Stage, "webs" | "workers" | "country" | "instance">,
): Promise<void> {
  await Promise.all([...stage.webs, ...stage.workers].map((role) => role.stop()));
  await stage.country.close();
  await stage.instance.drop();
}
