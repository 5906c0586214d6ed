import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { formatTime } from "#src/domain/time.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { refusalOf } from "#web/widget/told.ts";

const answer = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify({ type: `https://x.test/problems/${code}` }), { status, headers });

describe("web: how long a refusal asks to wait", () => {
  const waitS = async (header: string) =>
    (await refusalOf(answer(503, "x", { "Retry-After": header }))).retryAfterS;

  it("is read as seconds or as a date, and unknown where it is neither", async () => {
    expect(await waitS("30")).to.equal(30);
    expect(await waitS(new Date(Date.now() + 90_000).toUTCString())).to.be.within(85, 90);
    expect(await waitS("Thu, 01 Jan 2026 00:00:00 GMT")).to.equal(0);
    expect(await waitS("soon")).to.equal(null);
    expect((await refusalOf(answer(503, "x"))).retryAfterS).to.equal(null);
  });
});

describe("web: what a refusal leaves", () => {
  type Answer = Response | Promise<Response>;
  let refused = (_stopped: AbortSignal, _url: string): Answer =>
    answer(503, "upstream-unavailable");
  let network: Promise<void> = Promise.resolve();
  // As much of a browser as the map's modules look for when they are loaded.
  const nothing = { querySelector: () => null, addEventListener: () => {}, cookie: "" };
  const browser = {
    document: { ...nothing, baseURI: "https://map.test/", documentElement: { lang: "en" } },
    location: new URL("https://map.test/?lang=en"),
    navigator: { languages: ["en"] },
    setInterval: () => 0,
    fetch: async (url: string, { signal }: { signal: AbortSignal }) => {
      await network;
      signal.throwIfAborted();
      return refused(signal, url);
    },
  };
  const own = Object.keys(browser).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  );
  // By name, because the tests are not typed as a browser.
  const load = (name: string) => import(`#web/widget/${name}.ts`);

  before(() => {
    for (const [name, value] of Object.entries(browser))
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  });
  after(() => {
    for (const [name, descriptor] of own)
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
  });

  it("is the driver's mark where it only asks to wait, and none where it is final", async () => {
    const { sendMark } = await load("mark");
    const { enter } = await load("offline/outbox");
    const { allEntries } = await load("offline/waiting-marks");
    const { isOwnMark } = await load("device");
    const sent = async (stationId: string, status: number, code: string) => {
      refused = () => answer(status, code);
      const id = enter({ stationId, what: "report", statement: { status: "yes" } });
      const { taken } = await sendMark(id, stationId, "yes");
      const waits = (await allEntries()).some((one: { id: string }) => one.id === id);
      return [taken, waits, isOwnMark(stationId, "yes")];
    };
    const left = [true, true, true];
    expect(await sent("n1", 429, "rate-limit-exceeded")).to.deep.equal(left);
    expect(await sent("n2", 403, "domain-not-allowed")).to.deep.equal(left);
    expect(await sent("n3", 408, "")).to.deep.equal(left);
    expect(await sent("n4", 503, "upstream-unavailable")).to.deep.equal(left);
    expect(await sent("n5", 422, "too-far")).to.deep.equal([false, false, false]);
  });

  it("is the driver's mark before there is an answer, until the worker has had a refusal", async () => {
    const { sendMark } = await load("mark");
    const { drop, enter } = await load("offline/outbox");
    const { allEntries, putEntry } = await load("offline/waiting-marks");
    const { forgetOwnMark, isOwnMark, noteOwnMark } = await load("device");
    noteOwnMark("n6", "yes", "an earlier mark");
    let answers = (): void => {};
    network = new Promise((done) => (answers = done));
    const id = enter({ stationId: "n6", what: "confirm", statement: { status: "no" } });
    const sent = sendMark(id, "n6", "no");
    expect(isOwnMark("n6", "no")).to.equal(true);
    forgetOwnMark("n6", "another mark");
    const refuse = async (code: string): Promise<void> => {
      const entry = (await allEntries()).find((one: { id: string }) => one.id === id);
      const said = { kind: "refused", status: 409, window: "", retryAfterS: null, code };
      await putEntry({ ...entry, refused: said });
      // The page looks at what waits.
      await drop("nothing");
    };
    await refuse("own-mark");
    expect(isOwnMark("n6", "no")).to.equal(true);
    await refuse("station-cooldown");
    expect(isOwnMark("n6", "no")).to.equal(false);
    // That one counts.
    expect(isOwnMark("n6", "yes")).to.equal(true);
    answers();
    await sent;
  });

  it("is no mark of the driver's where a waiting one is not to be sent", async () => {
    const { sendMark } = await load("mark");
    const { drop, enter } = await load("offline/outbox");
    const { isOwnMark, noteOwnMark } = await load("device");
    refused = () => answer(503, "upstream-unavailable");
    noteOwnMark("n9", "yes", "an earlier mark");
    const id = enter({ stationId: "n9", what: "report", statement: { status: "no" } });
    await sendMark(id, "n9", "no");
    expect(isOwnMark("n9", "no")).to.equal(true);
    await drop(id);
    expect(isOwnMark("n9", "no")).to.equal(false);
    // That one has arrived.
    expect(isOwnMark("n9", "yes")).to.equal(true);
  });

  it("is none of an answer that comes slowly, but of one that falls silent", async () => {
    const { ask } = await load("api");
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      let pipe: ReadableStreamDefaultController<Uint8Array>;
      const say = (text: string) => pipe.enqueue(new TextEncoder().encode(text));
      const begin = () =>
        (refused = (stopped) =>
          new Response(
            new ReadableStream({
              start(to) {
                pipe = to;
                say("[1");
                stopped.addEventListener("abort", () => to.error(stopped.reason));
              },
            }),
          ));
      const pass = async (ms: number) => {
        await setImmediate();
        mock.timers.tick(ms);
        await setImmediate();
      };
      begin();
      const slow = ask("/slow");
      for (const piece of [",2", ",3", "]"]) {
        await pass(15_000);
        say(piece);
      }
      pipe!.close();
      expect(await slow).to.deep.equal({ kind: "ok", body: [1, 2, 3], etag: null });
      begin();
      const silent = ask("/silent");
      await pass(20_000);
      expect(await silent).to.deep.equal({ kind: "offline" });
    } finally {
      mock.timers.reset();
    }
  });

  it("are the stations that the device holds, where a search is refused", async () => {
    const { search } = await load("search");
    const { restoreParts } = await load("loader");
    const fuel = { status: "yes", fuels_now: "95", fuels_no: "", updated: "", queue: "" };
    const station = { id: "n1", lat: 55, lon: 37, brand: "Лукойл", name: "", addr: "", fuel };
    const box = { south: 54, west: 36, north: 56, east: 38 };
    restoreParts([{ box, etag: null, stations: [station], split: false, at: Date.now() }]);
    for (const status of [429, 503]) {
      refused = () => answer(status, "x");
      const found = await search("лукойл", new AbortController().signal);
      expect(found.map(({ id }: { id: string }) => id)).to.deep.equal(["n1"]);
    }
    const stop = new AbortController();
    const found = search("лукойл", stop.signal);
    stop.abort();
    expect(await found).to.deep.equal([]);
  });

  it("is the older state where a mark is taken back, also in a list of before", async () => {
    const { asHeardSince, takeLastBack } = await load("take-back");
    const { restoreParts } = await load("loader");
    const { config } = await load("state");
    config.value = { cooldown_s: 1200 };
    const box = { south: 64, west: 36, north: 66, east: 38 };
    const station = (id: string, updated: string) => ({ id, lat: 65, lon: 37, fuel: { updated } });
    // As served: in UTC, without saying so.
    const listed = station("n7", formatTime(Date.now() - minuteMs));
    const stations = [listed, station("n8", formatTime(Date.now() - hourMs))];
    restoreParts([{ box, etag: null, stations, split: false, at: Date.now() }]);
    refused = () =>
      new Response(JSON.stringify({ published: { outcome: "superseded" }, fuel: { updated: "" } }));
    expect(asHeardSince(listed).fuel.updated).to.equal(listed.fuel.updated);
    expect((await takeLastBack("n7")).taken).to.equal(true);
    expect(asHeardSince(listed).fuel.updated).to.equal("");
    // What somebody has told since then counts, and of another station the newer answer.
    const since = station("n7", formatTime(Date.now() + minuteMs));
    expect(asHeardSince(since)).to.equal(since);
    const newer = station("n8", formatTime(Date.now() - minuteMs));
    expect(asHeardSince(newer)).to.equal(newer);
  });

  it("is of a view that has moved only what is out of it; what is new is asked for at once", async () => {
    const { loading, look } = await load("loader");
    const asked: string[] = [];
    const left: string[] = [];
    const answers = new Map<string, (truncated: boolean) => Promise<void>>();
    refused = (stopped, url) =>
      new Promise((done, fail) => {
        const name = url.slice(url.indexOf("=") + 1);
        asked.push(name);
        stopped.addEventListener("abort", () => {
          left.push(name);
          fail(stopped.reason as Error);
        });
        answers.set(name, async (truncated) => {
          done(new Response(JSON.stringify({ stations: [], truncated })));
          await setImmediate();
        });
      });
    const lookAt = async (south: number, north: number, east: number) => {
      look([{ south, west: 30, north, east }], 4);
      await setImmediate();
    };
    const [cell, next] = ["45,0,67.5,45", "45,45,67.5,90"];
    const [lower, upper] = ["45,22.5,56.25,45", "56.25,22.5,67.5,45"];
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      await lookAt(50, 55, 40);
      await answers.get(cell)!(true);
      expect([asked, left]).to.deep.equal([[cell, lower], []]);
      // In the same cell: its other quarter too.
      await lookAt(50, 60, 40);
      expect([asked, left]).to.deep.equal([[cell, lower, upper], []]);
      expect(loading.value).to.equal(true);
      await lookAt(57, 60, 50);
      expect([asked, left]).to.deep.equal([[cell, lower, upper, next], [lower]]);
      await answers.get(upper)!(false);
      expect(loading.value).to.equal(true);
      await answers.get(next)!(false);
      expect(loading.value).to.equal(false);
    } finally {
      mock.timers.reset();
    }
  });
});
