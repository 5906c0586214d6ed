import { actedOn } from "#bench/trust/moved.ts";
import { emptyState, type FuelBlock, type StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { rows } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { deviceReporter } from "#src/marks/marks.ts";
import { startHook } from "#test/flow/alarm-receivers.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { openCountry } from "#test/flow/country.ts";
import { countUnprocessed } from "#test/flow/refold.ts";
import { createTestInstance } from "#test/harness/instance.ts";
import { type Ran, runOperator } from "#test/harness/operator.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import {
  type Ground,
  type Honest,
  layoutOf,
  type Request,
  type Sent,
} from "#test/long/attack-country.ts";

/** What a driver acts on, by station id. */
export type Shown = ReadonlyMap<string, string>;

/** What became of one mark: its id, or why it was refused. */
export type Became = { id: string } | { refused: string };

const roleNames = ["web", "web", "marks", "marks", "upkeep"];
const atOnce = 8;
const batchMax = 500;

/**
 * A country on a database of its own, two web and two marks processes, and one that tells alarms to a webhook. The
 * processes end and start with each `setClock`.
 */
export async function openAttackStage(ground: Ground) {
  const hook = await startHook();
  const instance = await createTestInstance({
    TRUSTED_PROXIES: "127.0.0.1",
    ALARM_WEBHOOK_URL: hook.url,
  });
  const layout = layoutOf(ground);
  const country = await openCountry(instance.config, ground.cities * ground.stationsOfCity, layout);
  const { db } = country;
  let roles: RoleProcess[] = [];
  let aheadS = 0;
  let turn = 0;

  const stop = async (): Promise<void> => {
    await Promise.all(roles.map((role) => role.stop()));
    roles = [];
  };
  const env = (): Record<string, string> => ({ ...instance.env, CLOCK_OFFSET_S: String(aheadS) });
  /** Of the web processes in turn. */
  const clientOf = (key: string): Client => {
    const webs = roles.filter(({ role }) => role === "web");
    turn += 1;
    return createClient(webs[turn % webs.length]!.baseUrl, key);
  };
  const now = (): number => Date.now() + aheadS * 1000;

  const post = async (request: Request): Promise<Became[]> => {
    const [first] = request;
    if (first === undefined) return [];
    if (first.address === null) {
      const reports = request.map((sent) => ({
        ...{ station_id: layout.placeOf(sent.station).id, user_ref: sent.who },
        ...bodyOf(sent),
      }));
      const { body } = await clientOf(country.secret).post("/reports", { reports });
      return (body.reports as { report_id?: string; error?: { type: string } }[]).map(
        ({ report_id: id, error }) =>
          id === undefined ? { refused: codeOf(error!.type) } : { id },
      );
    }
    const { id } = layout.placeOf(first.station);
    const answer: Answer = await clientOf(country.publishable).post(
      `/widget/stations/${id}/report`,
      { device: first.who, ...bodyOf(first) },
      { "X-Forwarded-For": first.address },
    );
    return [
      answer.status < 300
        ? { id: String(answer.body.report_id) }
        : { refused: codeOf(answer.body.type) },
    ];
  };
  const bodyOf = ({ station, atStation, said }: Sent): object => {
    const { lat, lon } = layout.placeOf(station);
    return { ...said, ...(atStation ? { lat, lon } : {}) };
  };

  return {
    ...{ instance, country, layout, now, stop },

    /** Starts all processes anew, with their clocks so far ahead. */
    async setClock(seconds: number): Promise<void> {
      await stop();
      aheadS = seconds;
      roles = await Promise.all(roleNames.map((name) => startRoleProcess(name, env())));
    },

    operator: (...args: string[]): Promise<Ran> =>
      runOperator(env(), ...args, "--json", "--actor", "olga"),

    /** Writes a person down as first seen so many days ago. */
    async meet({ who, address }: Sent, daysKnown: number): Promise<void> {
      const minutes = Math.round(daysKnown * 24 * 60);
      if (address === null) return country.meet(who, minutes);
      await rows(
        db,
        `insert into reporters (hash, first_seen)
         values (decode(?, 'hex'), server_now() - ?::int * interval '1 minute')`,
        [deviceReporter(instance.config.reporterPepper, who), minutes],
      );
    },

    /** Sends the requests, some at a time, to the web processes in turn, and waits until every mark is processed. */
    async send(requests: readonly Request[]): Promise<Became[][]> {
      const became: Became[][] = [];
      let next = 0;
      const worker = async (): Promise<void> => {
        while (next < requests.length) {
          const index = next++;
          became[index] = await post(requests[index]!);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      await until(
        () => countUnprocessed(db),
        (left) => left === 0,
        600_000,
      );
      return became;
    },

    /** What every web process shows, once all of them show what is stored. */
    async shown(): Promise<Shown> {
      const stored = new Map<string, string>();
      const saved = await rows<{ id: string; state: StationState | null }>(
        db,
        "select s.id, state from stations s left join station_status on station_id = s.id",
      );
      const life = instance.config.statusLifetimeMs;
      for (const { id, state } of saved)
        stored.set(id, actedOn(jsonOf(view(state ?? emptyState, now(), life))));
      for (const { role, baseUrl } of roles)
        if (role === "web") {
          const client = createClient(baseUrl, country.secret);
          await until(
            async () => {
              const { body } = await client.get("/stations/all?limit=20000");
              const listed = body.stations as { id: string; fuel: FuelBlock }[];
              return listed.filter(({ id, fuel }) => actedOn(fuel) !== stored.get(id)).length;
            },
            (others) => others === 0,
          );
        }
      return stored;
    },

    async close(): Promise<void> {
      await stop();
      await country.close();
      await instance.drop();
      await hook.close();
    },
  };
}

export type AttackStage = Awaited<ReturnType<typeof openAttackStage>>;

const jsonOf = (fuel: FuelBlock): FuelBlock => JSON.parse(JSON.stringify(fuel)) as FuelBlock;
const codeOf = (type: string): string => type.split("/").at(-1)!;

/** Marks of a partner's users as batches that a partner may send. */
export const inBatches = (marks: readonly Sent[]): Request[] => [...slices(marks, batchMax)];

/** Both in their order, the honest ones evenly between the others. */
export function beside(
  attack: readonly Request[],
  honest: readonly Honest[],
): { requests: Request[]; isHonest: boolean[] } {
  const all = [
    ...attack.map((request, n) => ({ request, at: n / attack.length, isHonest: false })),
    ...honest.map(({ mark }, n) => ({
      ...{ request: [mark], at: (n + 0.5) / honest.length, isHonest: true },
    })),
  ].sort((a, b) => a.at - b.at);
  return {
    requests: all.map(({ request }) => request),
    isHonest: all.map(({ isHonest }) => isHonest),
  };
}
