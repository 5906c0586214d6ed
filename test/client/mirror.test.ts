import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { fileStore } from "#client/file-store.ts";
import type { Change } from "#client/mirror.ts";
import type { Station } from "#client/types.ts";
import {
  problem,
  type Scripted,
  startScripted,
  station,
  time,
  useSite,
} from "#test/client/scripted-server.ts";

const kinds = (changes: readonly Change[]): string[] =>
  changes.map(({ kind, before, after }) => `${kind} ${before?.name ?? "-"} ${after?.name ?? "-"}`);

describe("the mirror", () => {
  // The stream has tests of its own.
  const site = useSite({ stream: false, pollMs: 60_000 });
  const { start } = site;
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "fuelmark-mirror-"));
    file = join(folder, "state", "copy.json");
  });
  afterEach(() => rm(folder, { recursive: true }));

  const whole = (second: number, stations: Station[], next = ""): Scripted => ({
    status: 200,
    headers: { ETag: `W/"${second}"` },
    body: { stations, as_of: time(second), next_cursor: next },
  });
  const delta = (second: number, stations: Station[], removed: string[] = []): Scripted => ({
    status: 200,
    body: { stations, removed, as_of: time(second) },
  });

  it("takes the country once, then what changes, from where each answer ended", async () => {
    site.answers["/stations/all"] = [whole(10, [station("a", "A"), station("b", "B")])];
    site.answers["/stations/delta"] = [
      delta(20, [station("a", "A2"), station("c", "C")], ["b", "never-seen"]),
      // The next process is behind: its time counts all the same.
      delta(15, [station("a", "A2")]),
      delta(30, []),
    ];
    const told: string[][] = [];
    const copy = start({ onChange: (changes) => void told.push(kinds(changes)) });
    await copy.ready();
    expect(copy.asOf()).to.equal(time(10));
    await copy.refresh();
    expect([...copy.stations.keys()].sort()).to.deep.equal(["a", "c"]);
    await copy.refresh();
    expect(copy.asOf()).to.equal(time(15));
    await copy.refresh();
    expect(site.server.asked).to.deep.equal([
      "GET /stations/all?limit=30000",
      `GET /stations/delta?updated_since=${time(10).replace(" ", "+")}`,
      `GET /stations/delta?updated_since=${time(20).replace(" ", "+")}`,
      `GET /stations/delta?updated_since=${time(15).replace(" ", "+")}`,
    ]);
    expect(told).to.deep.equal([
      ["added - A", "added - B"],
      ["changed A A2", "added - C", "removed B -"],
    ]);
  });

  it("puts pages together, and begins anew when one of them is missing", async () => {
    site.answers["/stations/all?limit=30000&cursor"] = [
      problem(500, "internal-error"),
      whole(10, [station("b")]),
    ];
    site.answers["/stations/all"] = [whole(10, [station("a")], "more")];
    const errors: unknown[] = [];
    const copy = start({ pollMs: 50, onError: (error) => errors.push(error) });
    await copy.ready();
    expect(errors).to.have.length(1);
    expect([...copy.stations.keys()]).to.deep.equal(["a", "b"]);
    expect(site.server.asked.filter((one) => one.endsWith("limit=30000"))).to.have.length(2);
  });

  it("takes a page without next_cursor for the last one", async () => {
    const { status, headers } = whole(10, []) as {
      status: number;
      headers: Record<string, string>;
    };
    const body = { stations: [station("a")], as_of: time(10) };
    site.answers["/stations/all"] = [{ status, headers, body }];
    const copy = start();
    await copy.ready();
    expect(site.server.asked).to.have.length(1);
    expect([...copy.stations.keys()]).to.deep.equal(["a"]);
  });

  it("says at once that its key is refused, and is ready when it no longer is", async () => {
    const refusal = problem(401, "invalid-key");
    site.answers["/stations/all"] = [refusal, refusal, whole(10, [station("a")])];
    site.answers["/stations/delta"] = [delta(20, [])];
    const copy = start({ pollMs: 50 });
    const code = (error: unknown): string => (error as { code: string }).code;
    expect(await copy.ready().catch(code)).to.equal("invalid-key");
    expect(await copy.ready().catch(code)).to.equal("invalid-key");
    await copy.ready();
    expect(copy.stations.size).to.equal(1);
    site.answers["/stations/delta"] = [refusal];
    expect(await copy.refresh().catch(code)).to.equal("invalid-key");
    await copy.ready();
  });

  it("saves on time when the machine's clock is set back", async () => {
    site.answers["/stations/all"] = [whole(10, [station("a")])];
    site.answers["/stations/delta"] = [
      delta(20, [station("a", "A2")]),
      delta(30, [station("a", "A3")]),
    ];
    const copy = start({ store: fileStore(file), saveMs: 0 });
    await copy.ready();
    const wallClock = Date.now;
    try {
      Date.now = () => wallClock() - 3600_000;
      await copy.refresh();
      expect(JSON.parse(await readFile(file, "utf8")).asOf).to.equal(time(20));
    } finally {
      Date.now = wallClock;
    }
  });

  it("keeps the state before and leaves nothing behind when the disk is full", async function () {
    if (process.platform !== "linux") this.skip();
    const state = (second: number) => ({ asOf: time(second), etag: null, stations: [] });
    const store = fileStore(file);
    await store.save(state(10));
    // Whatever is written there finds no space.
    await symlink("/dev/full", `${file}.new`);
    const code = await store.save(state(20)).catch((error: NodeJS.ErrnoException) => error.code);
    expect(code).to.equal("ENOSPC");
    expect(await readdir(join(folder, "state"))).to.deep.equal(["copy.json"]);
    expect(await store.load()).to.deep.equal(state(10));
    await store.save(state(30));
    expect(await store.load()).to.deep.equal(state(30));
  });

  it("goes on after a restart where it was, and is told only of what is new", async () => {
    site.answers["/stations/all"] = [whole(10, [station("a", "A"), station("b", "B")])];
    site.answers["/stations/delta"] = [delta(20, [station("a", "A2")], ["b"])];
    const first = start({ store: fileStore(file) });
    await first.ready();
    await first.stop();
    const told: string[] = [];
    const second = start({
      store: fileStore(file),
      onChange: (changes) => void told.push(...kinds(changes)),
    });
    await second.ready();
    expect(told).to.deep.equal(["changed A A2", "removed B -"]);
    await second.stop();
    expect(JSON.parse(await readFile(file, "utf8"))).to.deep.equal({
      ...{ version: 1, asOf: time(20), etag: null, stations: [station("a", "A2")] },
    });
    expect(await readdir(join(folder, "state"))).to.deep.equal(["copy.json"]);
  });

  it("takes the country again when it was away for too long, by ETag while it has that version", async () => {
    site.answers["/stations/all"] = [
      whole(10, [station("a", "A"), station("b", "B")]),
      { status: 304, headers: { ETag: 'W/"10"', "X-As-Of": time(40) } },
      whole(50, [station("b", "B2")]),
    ];
    site.answers["/stations/delta"] = [
      problem(422, "window-too-old"),
      delta(41, [station("a", "A2")]),
      problem(422, "window-too-old"),
    ];
    const first = start({ store: fileStore(file) });
    await first.ready();
    await first.stop();
    const told: string[] = [];
    const second = start({
      store: fileStore(file),
      onChange: (changes) => void told.push(...kinds(changes)),
    });
    await second.ready();
    expect([second.asOf(), told]).to.deep.equal([time(40), []]);
    await second.refresh();
    await second.refresh();
    expect([second.asOf(), told]).to.deep.equal([
      time(50),
      ["changed A A2", "changed B B2", "removed A2 -"],
    ]);
    const tags = site.server.headers.map((one) => one["if-none-match"]);
    // Changed by a delta, the copy is not that version any more.
    expect(tags).to.deep.equal([undefined, undefined, 'W/"10"', undefined, undefined, undefined]);
  });

  it("brings the same changes again when their taker fails", async () => {
    site.answers["/stations/all"] = [whole(10, [station("a", "A")])];
    let fails = 2;
    const told: string[] = [];
    const copy = start({
      pollMs: 20,
      onChange: async (changes) => {
        await Promise.resolve();
        if (fails-- > 0) throw new Error("database away");
        told.push(...kinds(changes));
      },
    });
    site.answers["/stations/delta"] = [delta(20, [])];
    await copy.ready();
    expect(told).to.deep.equal(["added - A"]);
    expect(site.server.asked.filter((one) => one.includes("/all"))).to.have.length(3);
  });

  it("keeps serving its copy while the server is away, limited or broken", async () => {
    site.answers["/stations/all"] = [whole(10, [station("a", "A")])];
    site.answers["/stations/delta"] = [
      null,
      problem(503, "upstream-unavailable", { "Retry-After": "0" }),
      problem(429, "rate-limit-exceeded", { "Retry-After": "0" }),
      delta(20, [station("a", "A2")]),
    ];
    const errors: string[] = [];
    const copy = start({
      pollMs: 20,
      onError: (error) => errors.push((error as { code: string }).code),
    });
    await copy.ready();
    expect(copy.stations.get("a")?.name).to.equal("A");
    while (copy.stations.get("a")?.name === "A")
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(errors).to.deep.equal(["no-answer", "upstream-unavailable", "rate-limit-exceeded"]);
  });

  it("starts anew from a file that it cannot understand, and survives one that it cannot write", async () => {
    site.answers["/stations/all"] = [whole(10, [station("a")])];
    for (const text of [
      "",
      "{",
      "null",
      '{"version":2,"asOf":"x","stations":[]}',
      '{"version":1}',
    ]) {
      const broken = join(folder, "broken.json");
      await writeFile(broken, text);
      const copy = start({ store: fileStore(broken) });
      await copy.ready();
      await copy.stop();
      expect(JSON.parse(await readFile(broken, "utf8")).asOf, text).to.equal(time(10));
    }
    const errors: unknown[] = [];
    const copy = start({
      store: fileStore(join(folder, "broken.json", "below-a-file")),
      onError: (error) => errors.push(error),
    });
    await copy.ready();
    await copy.stop();
    expect(copy.stations.size).to.equal(1);
    expect(errors.length).to.be.greaterThan(0);
  });

  it("ends at once when stopped, and rejects who waits for it", async () => {
    await site.server.stop();
    site.server = await startScripted(() => new Promise(() => {}));
    const copy = start();
    const ready = copy.ready().catch((error: unknown) => (error as Error).message);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const startedAt = Date.now();
    await copy.stop();
    // Not after its next poll, nor after the request’s own time-out.
    expect(Date.now() - startedAt).to.be.lessThan(10_000);
    expect(await ready).to.equal("the mirror was stopped");
  });
});
