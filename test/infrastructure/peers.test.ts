import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { withChecksum } from "#src/infrastructure/checksum.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createPeers } from "#src/infrastructure/peers.ts";
import { createRedis, type Redis } from "#src/infrastructure/redis.ts";
import { useInstance } from "#test/harness/use.ts";

describe("peers", () => {
  const instance = useInstance();
  let redis: Redis;
  const made: ReturnType<typeof createPeers>[] = [];

  before(async () => {
    redis = createRedis(instance.config, createLog({ logLevel: "silent" }, "test"));
    await new Promise((resolve) => redis.once("ready", resolve));
  });
  after(async () => {
    for (const one of made) await one.stop();
    redis?.disconnect();
  });

  const join = (role: string, now: number) => {
    const { config } = instance;
    const log = createLog({ logLevel: "silent" }, role);
    const peers = createPeers({ role, config, log, clock: () => now, db: instance.db, redis });
    made.push(peers);
    void peers.start();
    return peers;
  };
  type Peers = ReturnType<typeof createPeers>;
  /** What one knows once each has said and heard everything that there is now. */
  const known = async (one: Peers) => {
    for (const peers of [...made, one]) await peers.look();
    return one.others();
  };
  const rolesOf = async (one: Peers) => (await known(one)).map(({ role }) => role);

  it("tells each process what the others know, whatever their clocks say", async () => {
    const [one, other] = [join("web", 1e12), join("marks", 1)];
    other.tell(() => ({ seq: 7 }));
    const [said] = await known(one);
    expect(said).to.deep.include({ role: "marks", at: 1, seq: 7, postgresAt: null, content: null });
    expect(await rolesOf(other)).to.deep.equal(["web"]);
    await rows(instance.db, "select 1");
    expect((await known(one))[0]!.postgresAt).to.be.a("number");
    expect(one.heardMs()).to.be.within(0, performance.now());
  });

  it("forgets a process that stopped or said nothing for long, and speaks again after a flush", async () => {
    const [one, other] = made as [(typeof made)[0], (typeof made)[0]];
    const key = `${instance.redisPrefix}:peers`;
    const said = (role: string): string => withChecksum(key, JSON.stringify({ role }));
    await redis.hset(key, "dead", `${Date.now() - 20_000} ${said("dead")}`);
    await redis.hset(key, "alive", `${Date.now()} ${said("alive")}`);
    const damaged = said("damaged").replace('damaged"', 'dbmaged"');
    await redis.hset(key, "damaged", `${Date.now()} ${damaged}`);
    await redis.hset(key, "foreign", "foreign");
    expect(await rolesOf(one)).to.have.members(["marks", "alive"]);
    await redis.del(key);
    expect(await rolesOf(one)).to.deep.equal(["marks"]);
    await other.stop();
    expect(await rolesOf(one)).to.deep.equal([]);
  });
});
