import { expect } from "chai";
import fc from "fast-check";
import { newKey } from "#src/keys/key-text.ts";
import { compareRecordings } from "#test/record/compare.ts";
import { exchange } from "#test/record/fixtures.ts";
import { keep, type RawExchange, type Recorded } from "#test/record/recording.ts";
import { report } from "#test/record/report.ts";

const request = "GET /stations HTTP/1.1";
const compare = (was: RawExchange[], is: RawExchange[]) => compareRecordings(keep(was), keep(is));

describe("the comparison of recordings", () => {
  const found = (was: Partial<Recorded["answers"][0]>, is: Partial<Recorded["answers"][0]>) => {
    const [one] = keep([exchange({ request })]);
    const recorded = (answer: object): Recorded[] => [
      { ...one!, answers: [{ ...one!.answers[0]!, ...answer }] },
    ];
    const { differences } = compareRecordings(recorded(was), recorded(is));
    return differences.flatMap(({ changes }) =>
      changes.map(({ at, was: before, is: after }) => [at, before, after]),
    );
  };

  it("names what has changed, field by field", () => {
    expect(found({ status: "401 Unauthorized" }, { status: "403 Forbidden" })).to.deep.equal([
      ["status", "401 Unauthorized", "403 Forbidden"],
    ]);
    expect(
      found({ headers: { vary: ["A"], etag: ["1"] } }, { headers: { vary: ["B"], age: ["2"] } }),
    ).to.deep.equal([
      ["header vary", "A", "B"],
      ["header etag", "1", undefined],
      ["header age", undefined, "2"],
    ]);
    expect(
      found(
        { body: '{"stations":[{"id":"a","fuel":{"status":"yes"}}],"count":1}' },
        { body: '{"stations":[{"id":"a","fuel":{"status":"no"}}],"truncated":false}' },
      ),
    ).to.deep.equal([
      ["body.stations[0].fuel.status", '"yes"', '"no"'],
      ["body.count", "1", undefined],
      ["body.truncated", undefined, "false"],
    ]);
    expect(found({ body: "<p>a\n<p>b" }, { body: "<p>a\n<p>c" })).to.deep.equal([
      ["body, line 2", "<p>b", "<p>c"],
    ]);
  });

  it("sees the same fields in another order", () => {
    const [change] = found({ body: '{"a":1,"b":2}' }, { body: '{"b":2,"a":1}' });
    expect(change?.[0]).to.equal("body, character 3");
  });

  it("looks only at the rest where a body was not read whole", () => {
    expect(found({ body: null }, { body: "x" })).to.deep.equal([]);
    expect(found({ body: null, status: "200 OK" }, { body: "x", status: "201 C" })).to.have.length(
      1,
    );
  });

  it("counts what is missing and what is new", () => {
    const one = exchange({ request });
    const other = exchange({ request: "GET /cities HTTP/1.1" });
    const third = exchange({ request, title: "another test" });
    const { equal, differences } = compare([one, other], [one, third]);
    expect(equal).to.equal(1);
    expect(differences.map(({ kind, title, request: line }) => [kind, title, line])).to.deep.equal([
      ["missing", "a test", "GET /cities HTTP/1.1"],
      ["new", "another test", request],
    ]);
  });

  it("compares a request that has changed with the one in its place", () => {
    const asked = (value: string) => exchange({ request, sent: [`X-Test: ${value}`] });
    const { differences } = compare([asked("1")], [asked("2")]);
    expect(differences).to.have.length(1);
    expect(differences[0]).to.deep.include({
      kind: "changed",
      changes: [{ at: "request header x-test", was: "1", is: "2" }],
    });
  });

  it("compares equal requests one by one, and only their ends when they are not as many", () => {
    const asked = (...statuses: string[]) =>
      statuses.map((status) => exchange({ request, status }));
    expect(compare(asked("200 A", "429 B"), asked("429 B", "429 B")).differences).to.have.length(1);
    const polled = compare(asked("404 A", "404 A", "200 B"), asked("404 A", "200 B"));
    expect(polled).to.deep.equal({ equal: 0, polled: 1, differences: [] });
    expect(compare(asked("404 A", "200 B"), asked("404 A")).differences).to.have.length(1);
  });

  it("sees that two checks have changed their order", () => {
    const refused = (status: string, code: string) =>
      exchange({ request: "DELETE /x HTTP/1.1", status, body: `{"type":"/problems/${code}"}` });
    const { differences } = compare(
      [refused("401 Unauthorized", "invalid-key")],
      [refused("404 Not Found", "not-found")],
    );
    expect(differences[0]?.changes.map(({ at }) => at)).to.deep.equal(["status", "body.type"]);
  });

  interface Draw {
    path: string;
    status: string;
    value: number;
    tag: number;
  }
  const draws = fc.array(
    fc.record<Draw>({
      path: fc.constantFrom("/stations", "/cities", "/usage"),
      status: fc.constantFrom("200 OK", "403 Forbidden", "422 Unprocessable Entity"),
      value: fc.nat(),
      tag: fc.nat(3),
    }),
    { minLength: 1, maxLength: 20 },
  );
  /** What one run makes of these draws: its own moments, keys, ids, tags and port. */
  const run = (drawn: readonly Draw[], seed: number): RawExchange[] => {
    const digits = (n: number, width: number): string => `${n}`.padStart(width, "0").slice(-width);
    const time = new Date(Date.UTC(2026, 1, 1 + (seed % 20), seed % 24)).toISOString();
    return drawn.map(({ path, status, value, tag }, n) => {
      const id = `${digits(seed + n, 8)}-2fa1-41d2-883f-0016d3cca427`;
      return exchange({
        request: `GET ${path}?since=${time} HTTP/1.1`,
        sent: [
          `Host: 127.0.0.1:${20_000 + (seed % 10_000)}`,
          `Authorization: Bearer ${newKey("secret", Buffer.alloc(32, seed % 256))}`,
          ...(n > 0 ? [`If-None-Match: W/"${seed}-tag-${drawn[n - 1]?.tag}"`] : []),
        ],
        status,
        headers: [
          `X-Request-Id: ${id}`,
          `ETag: W/"${seed}-tag-${tag}"`,
          `X-RateLimit-Reset: ${seed}`,
        ],
        body: JSON.stringify({
          value,
          as_of: time,
          request_id: id,
          url: `http://127.0.0.1:${seed}`,
        }),
      });
    });
  };
  const seeds = fc.integer({ min: 10_000, max: 60_000 });

  it("finds two runs equal that differ by right alone", () => {
    fc.assert(
      fc.property(draws, seeds, seeds, (drawn, one, other) => {
        const { equal, differences } = compare(run(drawn, one), run(drawn, other));
        expect(differences).to.deep.equal([]);
        expect(equal).to.equal(drawn.length);
      }),
    );
  });

  it("finds any one thing that has changed", () => {
    const changes: ((one: Draw) => Draw)[] = [
      (one) => ({ ...one, status: "500 Internal Server Error" }),
      (one) => ({ ...one, value: one.value + 1 }),
    ];
    fc.assert(
      fc.property(
        draws,
        seeds,
        seeds,
        fc.nat(),
        fc.constantFrom(...changes),
        (drawn, one, other, at, change) => {
          const changed = drawn.map((draw, n) => (n === at % drawn.length ? change(draw) : draw));
          const { differences } = compare(run(drawn, one), run(changed, other));
          expect(differences).to.have.length(1);
          expect(differences[0]?.changes).to.have.length(1);
        },
      ),
    );
  });

  it("is reported field by field, with totals; what has changed alike only once", () => {
    const asked = (value: number) => [
      exchange({ request: "GET /cities HTTP/1.1" }),
      ...["/a", "/b", "/b"].map((path) =>
        exchange({ request: `GET ${path} HTTP/1.1`, body: `{"a":${value}}` }),
      ),
    ];
    const comparison = compare(asked(1), [...asked(2), exchange({ request })]);
    const totals =
      "1 equal, 0 asked another number of times with the same end, 3 changed, 0 missing, 1 new";
    expect(report(comparison, 20).split("\n")).to.deep.equal([
      ...["3 changed", "    body.a", "      - 1", "      + 2", "  in test/a.test.ts › a test"],
      ...["    GET /a HTTP/1.1", "    GET /b HTTP/1.1", "    GET /b HTTP/1.1 (#2)", ""],
      ...["1 new", "  in test/a.test.ts › a test", `    ${request}`, "", totals],
    ]);
    expect(report(comparison, 0)).to.equal(`… and 2 more kinds of difference\n\n${totals}`);
  });
});
