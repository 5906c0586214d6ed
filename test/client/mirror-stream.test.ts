import { expect } from "chai";
import type { Change } from "#client/mirror.ts";
import type { Station } from "#client/types.ts";
import { problem, type Scripted, station, time, useSite } from "#test/client/scripted-server.ts";
import { until } from "#test/flow/client.ts";

/** The real stream is in test/flow/stream.test.ts; here the server does what a real one seldom does. */
describe("the mirror's stream", () => {
  const site = useSite({ pollMs: 20 }, () => ({
    "/stations/all": [
      { status: 200, body: { stations: [station("a", "A"), station("b", "B")], as_of: time(10) } },
    ],
    "/stations/delta": [delta(12, [])],
  }));
  const { start } = site;
  const body = (second: number, stations: Station[], removed: string[] = []) => ({
    ...{ stations, removed, count: stations.length, as_of: time(second) },
    ...{ stale_after_hours: 24, truncated: false },
  });
  const delta = (second: number, stations: Station[]): Scripted => ({
    status: 200,
    body: body(second, stations),
  });
  const event = (second: number, stations: Station[], removed: string[] = []): string =>
    `id: ${time(second)}\ndata: ${JSON.stringify(body(second, stations, removed))}\n\n`;
  const stream = (text: string, staysOpen = true): Scripted => ({
    ...{ status: 200, headers: { "Content-Type": "text/event-stream" }, text, staysOpen },
  });
  const seen = (path: string): number =>
    site.server.asked.filter((one) => one.includes(path)).length;
  const sinces = (): (string | undefined)[] =>
    site.server.headers
      .filter((_, i) => site.server.asked[i]?.includes("/stream"))
      .map((headers) => headers["last-event-id"] as string | undefined);
  const whenTrue = (isSo: () => boolean): Promise<unknown> =>
    until(
      async () => isSo(),
      (value) => value,
    );
  const hour = 3600_000;

  it("takes changes and heartbeats, in any pieces, and skips what it does not know", async () => {
    const text = `: hello\nretry: 10\n\n${event(20, [station("a", "A2"), station("c", "C")], ["b"])}`;
    const later = `event: news\nid: ${time(25)}\ndata: {"x":1}\n\n:\r\nid: ${time(30)}\r\n\r\n`;
    site.answers["/stations/stream"] = [stream(text + later)];
    const copy = start({ pollMs: hour });
    await copy.ready();
    await whenTrue(() => copy.asOf() === time(30));
    expect(copy.isLive()).to.equal(true);
    expect([...copy.stations.values()].map(({ name }) => name)).to.deep.equal(["A2", "C"]);
    expect(site.server.asked).to.deep.equal([
      "GET /stations/all?limit=30000",
      "GET /stations/stream",
    ]);
    expect(sinces()).to.deep.equal([time(10)]);
  });

  it("opens the next stream where the last one ended, also when that lies before", async () => {
    site.answers["/stations/stream"] = [
      stream(`retry: 10\n\n${event(20, [station("a", "A2")])}`, false),
      // Another process, which is behind; and one that is cut in the middle of an event.
      stream(
        `retry: 10\n${event(15, [station("a", "A2")])}` +
          event(40, [station("a", "A3")]).slice(0, 50),
        false,
      ),
      stream(event(50, [station("a", "A4")])),
    ];
    delete site.answers["/stations/delta"];
    // A poll comes between two streams, and ends elsewhere again.
    for (const [since, asOf] of [
      [20, 21],
      [21, 21],
      [15, 16],
      [16, 16],
    ] as const)
      site.answers[`/stations/delta?updated_since=${time(since).replace(" ", "+")}`] = [
        delta(asOf, []),
      ];
    const copy = start();
    await whenTrue(() => copy.stations.get("a")?.name === "A4");
    expect(sinces()).to.deep.equal([time(10), time(21), time(16)]);
  });

  for (const [what, answer] of [
    ["is an older one", problem(404, "station-not-found")],
    ["has no room for another stream", problem(429, "too-many-streams", { "Retry-After": "3600" })],
    ["stands behind a proxy that holds streams back", stream("")],
    ["answers with something else", { status: 200, body: { stations: [] } }],
  ] as [string, Scripted][])
    it(`polls when the server ${what}`, async () => {
      site.answers["/stations/stream"] = [answer];
      site.answers["/stations/delta"] = [delta(20, [station("a", "A2")])];
      const copy = start({ silentMs: 30 });
      await whenTrue(() => copy.stations.get("a")?.name === "A2" && seen("/delta") > 3);
      expect(copy.isLive()).to.equal(false);
      expect(seen("/stream")).to.be.most(seen("/delta"));
    });

  it("gives up a stream that falls silent, and misses nothing of what polls bring", async () => {
    site.answers["/stations/stream"] = [
      stream(`retry: 10\n${event(20, [])}`),
      stream(event(40, [station("a", "A4")])),
    ];
    site.answers["/stations/delta"] = [delta(30, [station("a", "A3")])];
    const errors: unknown[] = [];
    const copy = start({ silentMs: 200, onError: (error) => errors.push(error) });
    await whenTrue(() => copy.stations.get("a")?.name === "A4");
    expect(sinces().slice(0, 2)).to.deep.equal([time(10), time(30)]);
    expect(String(errors[0])).to.contain("the stream was silent for 200 ms");
  });

  it("brings the same changes again when their taker fails", async () => {
    site.answers["/stations/stream"] = [stream(`retry: 10\n${event(20, [station("a", "A2")])}`)];
    const told: string[] = [];
    const errors: unknown[] = [];
    const take = (changes: readonly Change[]): void => {
      told.push(...changes.map(({ after }) => after?.name ?? "-"));
      if (told.length === 3) throw new Error("not now");
    };
    const copy = start({ onChange: take, onError: (error) => errors.push(error) });
    await whenTrue(() => copy.stations.get("a")?.name === "A2");
    expect(told).to.deep.equal(["A", "B", "A2", "A2"]);
    expect(errors.map(String)).to.deep.equal(["Error: not now"]);
    expect(sinces().slice(0, 2)).to.deep.equal([time(10), time(12)]);
  });

  it("ends at once when stopped", async () => {
    site.answers["/stations/stream"] = [stream(event(20, []))];
    const copy = start({ pollMs: hour });
    await whenTrue(() => copy.isLive());
    await copy.stop();
    expect([copy.isLive(), copy.asOf()]).to.deep.equal([false, time(20)]);
  });

  it("ends at once when stopped right after a poll, before the next stream", async () => {
    site.answers["/stations/stream"] = [stream(event(20, []))];
    const copy = start({ pollMs: hour });
    await whenTrue(() => copy.isLive());
    await copy.refresh();
    await copy.stop();
    expect([copy.isLive(), seen("/delta")]).to.deep.equal([false, 1]);
  });
});
