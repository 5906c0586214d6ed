import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "#demo/country/random.ts";
import type { Stage } from "#test/flow/mirror-writers.ts";
import { startRoleProcess } from "#test/harness/processes.ts";
import type { OwnServer } from "#test/harness/servers.ts";

/** What streams live through: a web process is killed, another one frozen, Redis wiped; again and again until `end`. */
export async function makeTrouble(
  { webs, instance }: Stage,
  redis: OwnServer,
  random: Random,
  end: number,
): Promise<void> {
  const some = (): Promise<void> => sleep(random.int(500, 2000));
  do {
    await some();
    const [killed] = webs.splice(random.int(0, webs.length - 1), 1);
    await killed!.kill9();
    await some();
    webs.push(await startRoleProcess("web", instance.env));
    const frozen = random.pick(webs);
    frozen.freeze();
    await sleep(random.int(2000, 4000));
    frozen.thaw();
    await redis.restart({ wiped: true });
  } while (Date.now() < end - 8000);
}
