import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import {
  dropSessions,
  endSession,
  endSessionsOf,
  findSession,
  listSessions,
  openSession,
} from "#src/operators/sessions.ts";
import { useInstance } from "#test/harness/use.ts";

describe("sessions", () => {
  const instance = useInstance();
  let subjectId = 0;
  const lifeMs = 3600_000;

  beforeEach(() => (subjectId += 1));

  const open = (now: number, more: object = {}) =>
    openSession(instance.db, {
      kind: "key",
      subjectId,
      address: "192.0.2.1",
      agent: "agent ".repeat(99),
      now,
      lifeMs,
      ...more,
    });

  it("are found by their token, of their own kind, until the instant at which they end", async () => {
    const now = Date.now();
    const { token, id, expiresAt } = await open(now);
    expect(token).to.match(/^[\w-]{43}$/);
    expect(expiresAt).to.equal(now + lifeMs);
    const found = { id, kind: "key", subjectId, label: "", expiresAt };
    expect(await findSession(instance.db, "key", token, now)).to.deep.equal(found);
    expect(await findSession(instance.db, "key", token, expiresAt - 1)).to.deep.equal(found);
    expect(await findSession(instance.db, "key", token, expiresAt)).to.equal(null);
    expect(await findSession(instance.db, "operator", token, now)).to.equal(null);
    for (const other of ["", "x", `${token}a`, "'; drop table sessions", "A".repeat(43)])
      expect(await findSession(instance.db, "key", other, now)).to.equal(null);
  });

  it("note once a minute that they were seen", async () => {
    const now = Date.now() - 600_000;
    const { token } = await open(now);
    const seen = async () =>
      (await listSessions(instance.db, "key", subjectId))[0]!.last_seen_at.getTime();
    await findSession(instance.db, "key", token, now + 59_999);
    expect(await seen()).to.equal(now);
    await findSession(instance.db, "key", token, now + 60_000);
    expect(await seen()).to.equal(now + 60_000);
  });

  it("are listed with where they were opened, the newest first, without those that are over", async () => {
    const now = Date.now();
    const first = await open(now);
    const second = await open(now);
    await open(now - 2 * lifeMs);
    await open(now, { kind: "operator" });
    const listed = await listSessions(instance.db, "key", subjectId);
    expect(listed.map(({ id }) => id)).to.deep.equal([second.id, first.id]);
    expect(listed[0]).to.include({
      address: "192.0.2.1",
      agent: "agent ".repeat(99).slice(0, 200),
    });
    expect(listed[0]).not.to.have.property("hash");
    expect((await listSessions(instance.db, "key")).map(({ id }) => id)).to.include(first.id);
  });

  it("end one by one or all of a subject, once, and those of others stay", async () => {
    const now = Date.now();
    const [one, two, three] = [await open(now), await open(now), await open(now)];
    const other = await open(now, { subjectId: subjectId + 1000 });
    expect(await endSession(instance.db, one.id)).to.equal(true);
    expect(await endSession(instance.db, one.id)).to.equal(false);
    expect(await endSessionsOf(instance.db, "operator", subjectId)).to.equal(0);
    expect(await endSessionsOf(instance.db, "key", subjectId)).to.equal(2);
    for (const { token } of [one, two, three])
      expect(await findSession(instance.db, "key", token, now)).to.equal(null);
    expect(await findSession(instance.db, "key", other.token, now)).not.to.equal(null);
  });

  it("are dropped when they have been over for long enough", async () => {
    const now = Date.now();
    const days = (n: number): number => now - n * 86_400_000;
    const kept = [await open(now), await open(days(20))];
    const ended = await open(now, { lifeMs: 400 * 86_400_000 });
    const gone = [await open(days(40)), ended];
    await rows(
      instance.db,
      "update sessions set ended_at = server_now() - interval '31 days' where id = ?",
      [ended.id],
    );
    await dropSessions(instance.db, days(30));
    const left = await rows<{ id: number }>(
      instance.db,
      "select id from sessions where subject_id = ?",
      [subjectId],
    );
    const ids = left.map(({ id }) => id);
    expect(ids).to.have.members(kept.map(({ id }) => id));
    expect(ids).not.to.include.members(gone.map(({ id }) => id));
  });
});
