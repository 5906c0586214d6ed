import { expect } from "chai";
import { mirror } from "#client/mirror.ts";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { revokeKey } from "#src/keys/issued-keys.ts";
import { changePartner } from "#src/keys/partners.ts";
import { by } from "#test/harness/by.ts";
import { readExposition } from "#test/api/exposition.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { useStage } from "#test/flow/stage.ts";
import { openStream, type StreamReader } from "#test/flow/stream-reader.ts";
import { startRole } from "#test/harness/roles.ts";

const stations = 600;
const settings = {
  ...{ STREAMS_PER_KEY: "2", STREAMS_MAX: "4", STREAM_HEARTBEAT_MS: "100" },
  ...{ STREAM_BACKLOG_BYTES: "2000000", STREAM_EVERY_MS: "0", KEYS_REFRESH_MS: "500" },
};

describe("flow: the stream of changes", function () {
  const { instance, country, webs, clients } = useStage(
    stations,
    ["web", "web", "marks"],
    settings,
  );
  const open: StreamReader[] = [];

  afterEach(async () => {
    for (const reader of open.splice(0)) reader.close();
    // A server notices a moment later.
    for (const { baseUrl } of webs)
      await until(
        () => figure(baseUrl, "fuelmark_streams"),
        (count) => count === 0,
      );
  });

  const figure = async (baseUrl: string, name: string): Promise<number> => {
    const answer = await fetch(`${baseUrl}/metrics`);
    return readExposition(await answer.text()).get(name) ?? 0;
  };
  const web = (n: number): string => webs[n]!.baseUrl;
  const stream = async (
    more: Parameters<typeof openStream>[2] = {},
    { at = web(0), key = country.secret } = {},
  ): Promise<StreamReader> => {
    const reader = await openStream(at, key, more);
    open.push(reader);
    return reader;
  };
  /** Until this is so of what a reader has got. */
  const heard = (reader: StreamReader, isSo: () => boolean): Promise<unknown> =>
    until(
      async () => reader.text().slice(-500),
      () => isSo(),
    );
  /** Gives stations a new name, all in one transaction. */
  const rename = (name: string, ids: readonly string[]): Promise<unknown> =>
    inTransaction(country.db, async (tx) => {
      await rows(tx, "update stations set name = ? where id = any(?::text[])", [name, ids]);
      await rows(tx, "select feed_stamp(?::text[])", [ids]);
    });
  const nameIn = (reader: StreamReader, n: number): string | undefined =>
    reader.stations().get(placeOf(n).id)?.name;
  const now = (): string => formatTime(Date.now() - 1000);

  it("says of a mark what the delta says, on every process, at once and not compressed", async () => {
    const since = now();
    const readers = [await stream(), await stream({}, { at: web(1) })];
    const [one] = clients;
    const marked = await one!.mark(placeOf(0), "driver", { status: "yes", fuels: ["95"] });
    expect(marked.body.fuel.status).to.equal("yes");
    for (const reader of readers) {
      expect(reader.headers).to.include({
        ...{ "content-type": "text/event-stream", "cache-control": "no-store" },
        ...{ "x-accel-buffering": "no" },
      });
      expect(reader.headers).not.to.have.property("content-encoding");
      await heard(reader, () => reader.stations().get(placeOf(0).id)?.fuel.status === "yes");
      expect(reader.text()).to.match(/^: .*\nretry: \d+\n\n/);
      const { body: delta } = await one!.get(`/stations/delta?updated_since=${since}`);
      const [same] = delta.stations.filter(({ id }: { id: string }) => id === placeOf(0).id);
      expect(reader.stations().get(placeOf(0).id)).to.deep.equal(same);
      for (const { id, data } of reader.events()) {
        // A digest is of one moment: copies take it from a delta.
        const shared = Object.keys(delta).filter((name) => name !== "digest");
        expect(data).to.have.all.keys(...shared);
        expect(data.as_of).to.equal(id);
        expect(data.count).to.equal(data.stations.length);
      }
    }
  });

  it("takes no filters, as the delta, and names them as ignored", async () => {
    const reader = await stream({ query: "?status=yes&fuel=95" });
    expect(reader.headers["x-ignored-parameters"]).to.equal("status, fuel");
    await rename("filtered", [placeOf(1).id]);
    await heard(reader, () => nameIn(reader, 1) === "filtered");
  });

  it("tells of a station that was taken out of service", async () => {
    const reader = await stream();
    const { id } = placeOf(2);
    const { db } = country;
    await rows(db, "update stations set removed_at = server_now() where id = ?", [id]);
    await rows(db, "select feed_stamp(array[?], true)", [id]);
    await heard(reader, () => reader.events().some(({ data }) => data.removed.includes(id)));
  });

  it("goes on from Last-Event-ID on another process with all that was missed", async () => {
    const first = await stream();
    await rename("before", [placeOf(3).id]);
    await heard(first, () => nameIn(first, 3) === "before");
    first.close();
    await rename("missed", [placeOf(4).id, placeOf(5).id]);
    // A stream that begins now would not have it any more.
    const changedAt = formatTime(Date.now());
    await until(
      () => clients[1]!.get(`/stations/delta?updated_since=${now()}`),
      ({ body }) => body.as_of > changedAt,
    );
    const headers = { "Last-Event-ID": first.lastId() };
    // What was read last is newer than the address.
    const query = "?updated_since=2020-01-01T00:00:00Z";
    const second = await stream({ query, headers }, { at: web(1) });
    await heard(second, () => nameIn(second, 4) === "missed" && nameIn(second, 5) === "missed");
    const third = await stream({ query: `?updated_since=${first.lastId()}` });
    await heard(third, () => nameIn(third, 4) === "missed" && nameIn(third, 5) === "missed");
  });

  it("gives many changes part by part, each with a cursor to go on from", async () => {
    const since = formatTime(Date.now() - 3600_000);
    const reader = await stream({ query: `?updated_since=${since}` });
    await heard(reader, () => reader.stations().size >= stations - 1);
    const [first, second] = reader.events();
    expect(first?.data.count).to.equal(500);
    expect(first!.id <= second!.id).to.equal(true);
    const resumed = await stream({ headers: { "Last-Event-ID": first!.id } }, { at: web(1) });
    const rest = second!.data.stations.map(({ id }) => id);
    await heard(resumed, () => rest.every((id) => resumed.stations().has(id)));
  });

  it("refuses cursors as the delta does", async () => {
    const tried = [
      ["?updated_since=2020-01-01T00:00:00Z", {}, "window-too-old"],
      ["?updated_since=yesterday", {}, "bad-timestamp"],
      ["", { "Last-Event-ID": "2020-01-01 00:00:00" }, "window-too-old"],
      ["", { "Last-Event-ID": "17" }, "bad-timestamp"],
    ] as const;
    for (const [query, headers, code] of tried) {
      const reader = await stream({ query, headers });
      expect([reader.status, JSON.parse(reader.text()).type.split("/").at(-1)]).to.deep.equal([
        422,
        code,
      ]);
    }
  });

  it("moves the cursor on by heartbeats while nothing changes", async () => {
    const reader = await stream();
    const begun = now();
    await heard(reader, () => reader.text().split(": heartbeat\n").length > 4);
    await heard(reader, () => reader.lastId() > begun);
  });

  it("answers HEAD without holding a stream", async () => {
    const reader = await stream({ method: "HEAD" });
    expect([reader.status, await reader.over]).to.deep.equal([200, "ended"]);
    expect(reader.headers["content-type"]).to.equal("text/event-stream");
  });

  it("bounds the streams of a key and of a process", async () => {
    const keys = await Promise.all([1, 2, 3].map(() => addPartner(country)));
    const [one, two, three] = keys.map(({ secret }) => secret);
    const opened = async (key: string | undefined): Promise<string> => {
      const reader = await stream({}, { key: key! });
      const wait = reader.headers["retry-after"];
      if (reader.status === 200) return "200";
      expect(Number(wait)).to.be.greaterThan(0);
      return `${reader.status} ${JSON.parse(reader.text()).type.split("/").at(-1)}`;
    };
    expect([await opened(one), await opened(one)]).to.deep.equal(["200", "200"]);
    expect(await opened(one)).to.equal("429 too-many-streams");
    expect([await opened(two), await opened(two)]).to.deep.equal(["200", "200"]);
    expect(await opened(three)).to.equal("503 upstream-unavailable");
    open[0]?.close();
    await until(
      () => opened(three),
      (answer) => answer === "200",
    );
  });

  it("counts and logs a stream once, when it is opened", async () => {
    const { id, secret } = await addPartner(country);
    const reader = await stream({}, { key: secret });
    const linesWith = async (text: string): Promise<string[]> =>
      webs[0]!.lines.filter((line) => line.includes(`"partner":${id},`) && line.includes(text));
    const [line] = await until(
      () => linesWith('"route":"/stations/stream"'),
      (lines) => lines.length > 0,
    );
    expect(line).to.include('"status":200').and.not.include('"aborted"');
    const usage = await createClient(web(0), secret).get("/usage?days=1");
    expect(usage.body.days[0].methods).to.deep.equal({
      "GET /stations/stream": 1,
      "GET /usage": 1,
    });
    reader.close();
    await until(
      () => linesWith("stream over"),
      (lines) => lines.length > 0,
    );
    expect(await linesWith('"route":"/stations/stream"')).to.have.length(1);
  });

  it("ends streams of a key that is revoked, expires, is bound elsewhere, or whose partner is switched off", async () => {
    const { db } = country;
    const ends: ((id: number, key: number) => Promise<unknown>)[] = [
      (_, key) => revokeKey(by(db, "test"), {}, key),
      (_, key) =>
        rows(db, "update keys set expires_at = server_now() - interval '1 s' where id = ?", [key]),
      (partner) => changePartner(by(db, "test"), { enabled: false }, partner),
      (_, key) => rows(db, "update keys set ips = '{192.0.2.1}' where id = ?", [key]),
    ];
    const others = await stream();
    for (const [n, end] of ends.entries()) {
      const { id, secret } = await addPartner(country);
      const sql = "select id from keys where partner_id = ? and kind = 'secret'";
      const [key] = await rows<{ id: number }>(db, sql, [id]);
      const reader = await stream({}, { key: secret });
      await heard(reader, () => reader.lastId() !== "");
      await end(id, key!.id);
      expect(await reader.over, String(n)).to.equal("ended");
      const { status } = await stream({}, { key: secret });
      expect(status).to.equal([401, 401, 403, 403][n]);
    }
    await rename("still open", [placeOf(6).id]);
    await heard(others, () => nameIn(others, 6) === "still open");
  });

  it("cuts a reader that reads nothing, leaves the others alone, and lets it go on later", async () => {
    const slow = await stream();
    const other = await stream({}, { at: web(1) });
    await heard(slow, () => slow.lastId() !== "");
    slow.pause();
    const all = country.stationIds.slice(10);
    const cut = 'fuelmark_streams_ended_total{reason="slow"}';
    let round = 0;
    // As much as the sockets between them can hold.
    await until(
      async () => {
        await rename(`round ${(round += 1)}`, all);
        return figure(web(0), cut);
      },
      (count) => count === 1,
    );
    slow.resume();
    expect(await slow.over).to.equal("cut");
    const resumed = await stream({ headers: { "Last-Event-ID": slow.lastId() } });
    for (const reader of [resumed, other])
      await heard(reader, () => nameIn(reader, 10) === `round ${round}`);
    expect(await figure(web(1), cut)).to.equal(0);
  });

  it("ends in order when its process stops, and is taken up by another", async () => {
    const third = await startRole("web", instance.env);
    const reader = await stream({}, { at: third.baseUrl });
    await heard(reader, () => reader.lastId() !== "");
    await third.stop();
    expect(await reader.over).to.equal("ended");
    await rename("moved on", [placeOf(7).id]);
    const next = await stream({ headers: { "Last-Event-ID": reader.lastId() } });
    await heard(next, () => nameIn(next, 7) === "moved on");
  });

  it("keeps a mirror up to date without polls", async () => {
    const asked: string[] = [];
    const copy = mirror({
      ...{ baseUrl: web(0), key: country.secret, pollMs: 3600_000 },
      fetch: (url, init) => {
        asked.push(new URL(url).pathname.split("/").at(-1) ?? "");
        return fetch(url, init);
      },
    });
    try {
      await copy.ready();
      const live = async (): Promise<boolean> => copy.isLive();
      await until(live, (isLive) => isLive);
      await rename("mirrored", [placeOf(8).id]);
      await until(
        async () => copy.stations.get(placeOf(8).id)?.name,
        (name) => name === "mirrored",
      );
      expect(asked).to.deep.equal(["all", "stream"]);
      // A poll between them, and again a stream from where it ended.
      await copy.refresh();
      await until(live, (isLive) => isLive);
      expect(asked.slice(0, 3)).to.deep.equal(["all", "stream", "delta"]);
      expect(asked.at(-1)).to.equal("stream");
    } finally {
      await copy.stop();
    }
  });
});
