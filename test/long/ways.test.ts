import { Agent, request } from "node:http";
import { type Profiler, Session } from "node:inspector/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { openStage, type Stage } from "#test/flow/stage.ts";

const root = pathToFileURL(`${process.cwd()}/`).href;
/** A file that ran only now and then belongs to something else that went on meanwhile. */
const runs = 3;
const warmUps = 3;
/** Before each request, so that it also does what the meter puts off while requests follow each other closely. */
const pauseMs = 400;

/**
 * Prints the files that one request runs through. V8 counts the calls of each function between two readings; a file is
 * on the way when one of its functions was called.
 */
describe("the ways of a mark and of a rectangle", function () {
  let stage: Stage;
  let session: Session;
  let agent: Agent;
  const undo: (() => unknown)[] = [];
  /** While true, what repeats by a timer (polls, flushes, sweeps) rests. */
  let isResting = false;

  before(async function () {
    // That run reads the same counters.
    if (process.env["NODE_V8_COVERAGE"]) this.skip();
    const every = globalThis.setInterval;
    const restful = (work: () => void, ms: number): NodeJS.Timeout =>
      every(() => {
        if (!isResting) work();
      }, ms);
    Object.assign(globalThis, { setInterval: restful });
    try {
      stage = await openStage(2000, ["web", "marks"]);
      undo.push(() => stage.close());
    } finally {
      globalThis.setInterval = every;
    }
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
    undo.push(() => agent.destroy());
    session = new Session();
    session.connect();
    undo.push(() => session.disconnect());
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    undo.push(() => session.post("Profiler.stopPreciseCoverage"));
  });

  after(async () => {
    for (const step of undo.reverse()) await step();
  });

  const call = (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<string> =>
    new Promise((resolve, reject) => {
      const url = `${stage.webs[0]!.baseUrl}/api/v1/partner${path}`;
      const sent = request(url, { method, agent, headers }, (response) => {
        response.resume().on("end", () => {
          const { "content-encoding": encoding = "identity" } = response.headers;
          resolve(`${response.statusCode} ${encoding}`);
        });
      });
      sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
    });

  const mark = (nth: number): Promise<string> => {
    const { id, lat, lon } = placeOf(nth * 10);
    return call(
      "POST",
      `/stations/${id}/report`,
      {
        Authorization: `Bearer ${stage.country.secret}`,
        "Content-Type": "application/json",
      },
      { status: "yes", user_ref: `driver ${nth}`, lat, lon },
    );
  };

  const rectangle = (nth: number): Promise<string> => {
    const { lat } = placeOf(nth * 200);
    return call("GET", `/stations?bbox=${lat},36.9,${lat + 0.3},37.1`, {
      Authorization: `Bearer ${stage.country.publishable}`,
      "Accept-Encoding": "gzip",
    });
  };

  /** How many requests and batches of marks are over, by the last line that is written about each. */
  const over = (): number =>
    [...stage.webs, ...stage.workers]
      .flatMap(({ lines }) => lines)
      .filter((line) => /"msg":"(request|marks processed)"/.test(line)).length;

  /** The files that run in each of several requests. `lines`: how many lines are written about one. */
  const filesOf = async (
    ask: (nth: number) => Promise<string>,
    answer: string,
    lines: number,
  ): Promise<string[]> => {
    const found: string[][] = [];
    for (let nth = 0; nth < warmUps + runs; nth += 1) {
      // At rest, or something that a timer sends within it would leave the request less to do.
      isResting = true;
      await sleep(pauseMs);
      const earlier = over();
      await session.post("Profiler.takePreciseCoverage");
      expect(await ask(nth)).to.equal(answer);
      await until(
        async () => over(),
        (now) => now >= earlier + lines,
      );
      const { result } = await session.post("Profiler.takePreciseCoverage");
      isResting = false;
      if (nth >= warmUps) found.push(result.filter(isCalled).map(pathOf));
    }
    const [first = [], ...others] = found;
    return first.filter((file) => isOurs(file) && others.every((files) => files.includes(file)));
  };

  it("shows the files of a mark", async () => {
    const files = await filesOf(mark, "200 identity", 2);
    show("a mark", files);
    expect(files).to.include("src/domain/decide.ts");
  });

  it("shows the files of a rectangle that is not cached yet", async () => {
    const files = await filesOf(rectangle, "200 gzip", 1);
    show("a rectangle", files);
    expect(files).to.include("snapshots/model/area-selection.ts");
  });

  it("shows the files of a rectangle that comes from the cache", async () => {
    const files = await filesOf(() => rectangle(0), "200 gzip", 1);
    show("a cached rectangle", files);
    expect(files).not.to.include("snapshots/model/area-selection.ts");
  });
});

const isCalled = ({ functions }: Profiler.ScriptCoverage): boolean =>
  functions.some((one) => (one.ranges[0]?.count ?? 0) > 0 && !isExport(one));

/** tsx makes CommonJS of what mocha loads. There an import is read through `()=>name`, and that through another one. */
function isExport({ functionName: name, ranges }: Profiler.FunctionCoverage): boolean {
  const { startOffset = 0, endOffset = 0 } = ranges[0] ?? {};
  const length = endOffset - startOffset;
  return length === `()=>${name}`.length || (name === "get" && length === "()=>from[key]".length);
}

const pathOf = ({ url }: Profiler.ScriptCoverage): string =>
  url.replace(root, "").replace(/\?.*/, "");

const isOurs = (file: string): boolean => /^(src|api|snapshots|workers)\//.test(file);

const show = (what: string, files: readonly string[]): void => {
  console.log([`${what}: ${files.length} files`, ...files.toSorted()].join("\n  "));
};
