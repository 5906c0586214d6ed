import { until } from "#test/flow/client.ts";
import { somePort } from "#demo/servers/port.ts";
import { type RedisServer, startRedisServer } from "#test/harness/redis-servers.ts";

/** Three masters with a third of the slots each. */
export interface RedisCluster {
  /** `REDIS_CLUSTER`, of which the first node does not exist. */
  addresses: string;
  masters: RedisServer[];
  /** One of each master, in the same order. */
  replicas: RedisServer[];
  /** The slot of a key and the master that has it. */
  homeOf(key: string): Promise<{ slot: number; master: RedisServer; id: string }>;
  /** Gives a slot with its keys to another master while both serve it. `meanwhile` is done in the middle. */
  moveSlot(
    slot: number,
    from: RedisServer,
    to: RedisServer,
    meanwhile: () => Promise<void>,
  ): Promise<void>;
  drop(): Promise<void>;
}

const slots = 16_384;

/** Starts three masters and a replica of each as a Redis Cluster. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const started: RedisServer[] = [];
  const bus = new Map<RedisServer, number>();
  const drop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.drop()));
  };
  const call = (server: RedisServer, ...words: (string | number)[]): Promise<unknown> =>
    server.client.call("cluster", ...words.map(String));
  const idOf = async (server: RedisServer): Promise<string> =>
    (await call(server, "MYID")) as string;
  try {
    // One after another: two that look for a free port at once may find the same.
    for (let n = 0; n < 6; n++) {
      const busPort = await somePort();
      const server = await startRedisServer([
        "cluster-enabled yes",
        "cluster-node-timeout 2000",
        "cluster-replica-validity-factor 0",
        "repl-diskless-sync-delay 0",
        "maxmemory-policy noeviction",
        `cluster-port ${busPort}`,
      ]);
      started.push(server);
      bus.set(server, busPort);
    }
    const masters = started.slice(0, 3);
    const replicas = started.slice(3);
    for (const [n, server] of started.entries()) await call(server, "SET-CONFIG-EPOCH", n + 1);
    for (const [n, server] of masters.entries()) {
      const [from, to] = [n, n + 1].map((third) => Math.floor((third * slots) / 3));
      await call(server, "ADDSLOTSRANGE", from!, to! - 1);
    }
    for (const server of started.slice(1))
      await call(server, "MEET", "127.0.0.1", started[0]!.port, bus.get(started[0]!)!);
    const infoOf = (): Promise<string[]> =>
      Promise.all(started.map(async (server) => (await call(server, "INFO")) as string));
    await until(infoOf, (infos) => infos.every((info) => info.includes("cluster_known_nodes:6")));
    for (const [n, server] of replicas.entries()) {
      const id = await idOf(masters[n]!);
      // It must have heard of its master before.
      await until(
        () => call(server, "REPLICATE", id).catch(String),
        (answer) => answer === "OK",
      );
    }
    await until(infoOf, (infos) => infos.every((info) => info.includes("cluster_state:ok")));
    await until(
      () => Promise.all(replicas.map(({ client }) => client.info("replication"))),
      (infos) => infos.every((info) => info.includes("master_link_status:up")),
    );
    return {
      addresses: ["127.0.0.1:1", ...masters.map(({ port }) => `127.0.0.1:${port}`)].join(","),
      masters,
      replicas,
      async homeOf(key) {
        const slot = Number(await call(masters[0]!, "KEYSLOT", key));
        const master = masters[Math.floor((slot * 3) / slots)]!;
        return { slot, master, id: await idOf(master) };
      },
      async moveSlot(slot, from, to, meanwhile) {
        const [fromId, toId] = await Promise.all([idOf(from), idOf(to)]);
        await call(to, "SETSLOT", slot, "IMPORTING", fromId);
        await call(from, "SETSLOT", slot, "MIGRATING", toId);
        await meanwhile();
        for (;;) {
          const keys = (await call(from, "GETKEYSINSLOT", slot, 100)) as string[];
          if (keys.length === 0) break;
          await from.client.call(
            "migrate",
            ...["127.0.0.1", String(to.port), "", "0", "5000", "KEYS", ...keys],
          );
        }
        for (const server of [to, from]) await call(server, "SETSLOT", slot, "NODE", toId);
      },
      drop,
    };
  } catch (error) {
    await drop();
    throw error;
  }
}
