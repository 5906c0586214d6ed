import { expect } from "chai";
import fc from "fast-check";
import { createRandom } from "#demo/country/random.ts";
import { formatTime } from "#src/domain/time.ts";
import { addKey, addPartner, type Edge } from "#test/api/edge.ts";
import { removeStation, writeStations } from "#test/api/reads-country.ts";
import { drawState } from "#test/flow/read-country.ts";
import { sized } from "#test/harness/long.ts";
import { useInstance } from "#test/harness/use.ts";
import { useEdgeOn } from "#test/api/edge.ts";

const stationCount = 40;
const idOf = (n: number): string => `n${100 + n}`;
const accepts = ["application/json", "application/geo+json", "application/x-ndjson"];

type Step =
  | { kind: "change"; seed: number; stations: number[] }
  | { kind: "remove"; station: number }
  | { kind: "pass"; ms: number }
  | { kind: "ask"; path: number; accept: number; web: number; weak: boolean; star: boolean };

const station = fc.nat(stationCount - 1);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("change" as const),
        seed: fc.nat(1e6),
        stations: fc.uniqueArray(station, { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), station }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(20_000) }) },
    {
      weight: 12,
      arbitrary: fc.record({
        kind: fc.constant("ask" as const),
        path: fc.nat(100),
        accept: fc.nat(accepts.length - 1),
        web: fc.nat(1),
        weak: fc.boolean(),
        star: fc.nat(19).map((one) => one === 0),
      }),
    },
  ),
  { minLength: 30, maxLength: 60, size: "max" },
);

describe("ETags, while marks, imports and time change the stations", function () {
  const instance = useInstance({ LOG_LEVEL: "silent" });
  let key: string;
  let now: number;
  let paths: string[];

  before(async () => {
    const { db } = instance;
    key = await addKey(db, await addPartner(db, { rpm: 100_000, daily: 1_000_000 }));
    now = Date.now();
    const random = createRandom(1);
    const entries = Array.from({ length: stationCount }, (_, n) => ({
      ...{ id: idOf(n), lat: 55 + n * 0.001, lon: 37, brand: n % 2 === 0 ? "Кедр" : "" },
      state: drawState(random, now),
    }));
    await writeStations(db, entries);
    const since = encodeURIComponent(formatTime(now - 3600_000));
    const area = "/stations?bbox=55,36,55.02,38";
    paths = [
      ...[
        area,
        `${area}&status=yes,low`,
        `${area}&fresh_h=1`,
        `${area}&has_price=true&sort=distance`,
      ],
      ...["/stations/all", "/stations/all?limit=7", "/stations/all?status=nodata"],
      ...[`/stations/${idOf(3)}`, `/stations/delta?updated_since=${since}`],
    ];
  });
  const clock = (): number => now;
  const webs = [useEdgeOn(instance, { clock }), useEdgeOn(instance, { clock })];

  /** What a caller keeps of an answer: all but the moment it was given at and an order that is not promised. */
  const contentOf = (body: string): string =>
    body
      .replace(/"(as_of|next_cursor)":"[^"]*"/g, "")
      .split(/(?=\{"id"|\{"type":"Feature",)|,?(?=\],"count")/)
      .map((part) => part.replace(/,$/, ""))
      .sort()
      .join("\n");
  const ask = (web: number, path: string, accept: string, ifNoneMatch?: string) =>
    fetch((webs[web] as Edge).url + path, {
      headers: {
        ...{ Authorization: `Bearer ${key}`, Accept: accept },
        ...(ifNoneMatch === undefined ? {} : { "If-None-Match": ifNoneMatch }),
      },
    });

  it("are the same on both processes for the same content, and no 304 stands for other content", async () => {
    let unchanged = 0;
    let changed = 0;
    /** Every version ever seen, by path, form and ETag: a caller may come back with any of them. */
    const seen = new Map<string, Map<string, string>>();

    const askStep = async (step: Step & { kind: "ask" }): Promise<void> => {
      const path = paths[step.path % paths.length] as string;
      const accept = accepts[step.accept] as string;
      const versions = seen.get(path + accept) ?? new Map<string, string>();
      seen.set(path + accept, versions);
      const known = [...versions.keys()];
      const list = known.map((tag) => (step.weak ? tag : tag.slice(2))).join(", ");
      const answer = await ask(step.web, path, accept, step.star ? "*" : list || '"none"');
      const body = await answer.text();
      const tag = answer.headers.get("etag") as string;
      const fresh = await ask(1 - step.web, path, accept);
      const content = contentOf(await fresh.text());
      if (fresh.status === 404) return void expect(answer.status).to.equal(404);
      expect(fresh.headers.get("etag"), "of the other process").to.equal(tag);
      expect(answer.status).to.equal(step.star || known.includes(tag) ? 304 : 200);
      if (answer.status === 200) expect(contentOf(body)).to.equal(content);
      const before = versions.get(tag);
      if (before === undefined) changed++;
      else {
        unchanged++;
        expect(content, `${path} as ${accept} under ${tag}`).to.equal(before);
      }
      // A page's ETag is that of the whole dump, also where this page is the same.
      const isPage = path.includes("limit");
      for (const [other, had] of isPage ? [] : versions)
        if (had === content) expect(other).to.equal(tag);
      versions.set(tag, content);
    };

    const play = async (step: Step): Promise<void> => {
      if (step.kind === "ask") return askStep(step);
      if (step.kind === "pass") now += step.ms;
      else if (step.kind === "remove") await removeStation(instance.db, idOf(step.station));
      else {
        const random = createRandom(step.seed);
        const entries = step.stations.map((n) => ({
          ...{
            id: idOf(n),
            lat: 55 + n * 0.001,
            lon: 37 + random.int(0, 1),
            brand: random.pick(["Кедр", ""]),
          },
          state: drawState(random, now),
        }));
        // Stamped by the write: until then nobody looks at the station again.
        const ids = entries.map(({ id }) => id);
        await instance.db("stations").whereIn("id", ids).update({ removed_at: null });
        await writeStations(instance.db, entries);
      }
      // Both have seen it: what they say now must be the same.
      for (const web of webs) await web.web.services.follower.refresh();
    };

    const property = fc.asyncProperty(steps, async (script) => {
      for (const step of script) await play(step);
    });
    await fc.assert(property, { numRuns: sized(5, 15), endOnFailure: true });
    expect(unchanged).to.be.greaterThan(sized(20, 50));
    expect(changed).to.be.greaterThan(sized(20, 50));
  });
});
