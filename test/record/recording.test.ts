import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { exchange } from "#test/record/fixtures.ts";
import { keep, type Recorded, readRecording, writeRecording } from "#test/record/recording.ts";

const request = "GET /stations HTTP/1.1";
const id = (n: number): string => `1b4e28ba-2fa1-41d2-883f-0016d3cca42${n}`;
const only = (raw: Parameters<typeof exchange>[0]): Recorded => {
  const [first, ...more] = keep([exchange(raw)]);
  expect(more).to.deep.equal([]);
  return first!;
};

describe("recordings", () => {
  it("keep status, all headers and the body of an answer", () => {
    const { answers } = only({
      request,
      status: "422 Unprocessable Entity",
      headers: ["Vary: Accept", "X-B: 2", "x-a: 1", "X-B: 1"],
      body: '{"limit":3}',
    });
    expect(answers).to.deep.equal([
      {
        status: "422 Unprocessable Entity",
        headers: {
          "content-length": ["<length>"],
          vary: ["Accept"],
          "x-a": ["1"],
          "x-b": ["2", "1"],
        },
        body: '{"limit":3}',
      },
    ]);
  });

  it("keep a request without what every fetch sends", () => {
    const sent = ["Host: 127.0.0.1:4000", "accept: */*", "X-Dry-Run: 1", "Content-Length: 0"];
    expect(only({ request, sent }).request).to.deep.equal({
      line: request,
      headers: { "x-dry-run": ["1"] },
      body: "",
    });
  });

  it("unpack a body", () => {
    const raw = exchange({ request });
    const body = gzipSync('{"a":1}');
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    const heard = Buffer.concat([Buffer.from(head), body]).toString("base64");
    expect(keep([{ ...raw, heard }])[0]?.answers[0]?.body).to.equal('{"a":1}');
  });

  it("keep several answers to one go, and none", () => {
    const raw = exchange({ request });
    const twice = Buffer.from(raw.heard, "base64").toString().repeat(2);
    const heard = Buffer.from(twice).toString("base64");
    expect(keep([{ ...raw, heard }])[0]?.answers).to.have.length(2);
    expect(keep([{ ...raw, heard: "" }])[0]?.answers).to.deep.equal([]);
  });

  it("say when a body was not read whole", () => {
    const raw = exchange({ request, body: "0123456789" });
    const cut = Buffer.from(raw.heard, "base64").subarray(0, -3).toString("base64");
    expect(keep([{ ...raw, heard: cut }])[0]?.answers[0]?.body).to.equal(null);
  });

  it("show whether a body names its request as the header does", () => {
    const named = (inBody: string) =>
      only({
        request,
        headers: [`X-Request-Id: ${id(1)}`],
        body: JSON.stringify({ request_id: inBody }),
      }).answers[0]?.body;
    expect(named(id(1))).to.equal('{"request_id":"<request id>"}');
    expect(named(id(2))).to.equal('{"request_id":"<uuid>"}');
  });

  it("show whether a request was counted", () => {
    const left = (value: number, endedAt?: number, status = "200 OK", limit = 120) =>
      exchange({
        request,
        status,
        headers: [`X-RateLimit-Daily-Remaining: ${value}`, `X-RateLimit-Limit: ${limit}`],
        ...(endedAt === undefined ? {} : { endedAt }),
      });
    const shown = (raws: Parameters<typeof keep>[0]) =>
      keep(raws).map(({ answers }) => answers[0]?.headers["x-ratelimit-daily-remaining"]?.[0]);
    expect(shown([left(10), left(9), left(9), left(5), left(0)])).to.deep.equal([
      ...["<n>", "<fewer>", "<as many>", "<fewer>", "<fewer>"],
    ]);
    const refused = (limit: number) => left(8, undefined, "422 Unprocessable Entity", limit);
    expect(shown([left(9), refused(120)])).to.deep.equal(["<n>", "<n>"]);
    expect(shown([left(9), refused(100_000)])).to.deep.equal(["<n>", "<fewer>"]);
    const together = Number.POSITIVE_INFINITY;
    expect(shown([left(10), left(8, together), left(9, together)])).to.deep.equal([
      ...["<n>", "<fewer>", "<fewer>"],
    ]);
  });

  it("are in the order of the requests, those under way together in that of their texts", () => {
    const ask = (path: string, startedAt: number, endedAt: number) =>
      exchange({ request: `GET ${path} HTTP/1.1`, startedAt, endedAt });
    const lines = keep([ask("/c", 5, 9), ask("/b", 6, 8), ask("/z", 1, 2), ask("/a", 7, 10)]).map(
      (one) => one.request.line.split(" ")[1],
    );
    expect(lines).to.deep.equal(["/z", "/a", "/b", "/c"]);
  });

  it("have only the last round of what was asked until something had happened", () => {
    const round = (n: number, status: string) =>
      exchange({ request, status, poll: { id: 1, round: n } });
    const raws = [exchange({ request }), round(1, "404 A"), round(2, "404 B"), round(3, "200 C")];
    expect(keep(raws).map(({ answers }) => answers[0]?.status)).to.deep.equal(["200 OK", "200 C"]);
  });

  it("hide the stations of a delta that begins within the last minute, and of no other", () => {
    const delta = (since: string) =>
      only({
        request: `GET /api/v1/partner/stations/delta?updated_since=${since} HTTP/1.1`,
        headers: ["Date: Sat, 31 Jan 2026 18:05:00 GMT"],
        body: '{"stations":[1],"count":1,"stale_after_hours":24}',
      }).answers[0]?.body;
    const hidden =
      '{"stations":"<of the last minute>","count":"<of the last minute>","stale_after_hours":24}';
    expect(delta("2026-01-31%2018:04:30")).to.equal(hidden);
    expect(delta("2026-01-31T18%3A04%3A30.500Z")).to.equal(hidden);
    expect(delta("2026-01-31%2018:03:30")).to.contain("[1]");
    expect(delta("yesterday")).to.contain("[1]");
  });

  it("come back from their folder as they were, with long bodies stored once", () => {
    const long = "ж".repeat(9000);
    const recording = keep([
      exchange({ request, body: long }),
      exchange({ request, body: long, file: "test/b/c.test.ts" }),
      exchange({ request, body: "short" }),
    ]);
    const folder = mkdtempSync(join(tmpdir(), "fuelmark-recording-"));
    try {
      writeRecording(folder, recording);
      const back = readRecording(folder);
      expect(back).to.have.length(3).and.to.have.deep.members(recording);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
