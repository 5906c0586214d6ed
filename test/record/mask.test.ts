import { expect } from "chai";
import fc from "fast-check";
import { newKey } from "#src/keys/key-text.ts";
import { createMasker, createSeen, maskText } from "#test/record/mask.ts";

const key = newKey("secret", Buffer.alloc(32, 7));
const cursor = (station: string, at = 1_795_318_671): string =>
  Buffer.from(`${at}.${station}.2EUng-xpaXZ`).toString("base64url");
const line = "GET /stations HTTP/1.1";

describe("masks of recordings", () => {
  const masked: [what: string, text: string, becomes: string][] = [
    ["a key", `Bearer ${key}`, "Bearer svc_live_<random>"],
    [
      "a key with its end spoilt, but not how it is spoilt",
      `Bearer ${key.slice(0, -1)}!`,
      "Bearer svc_live_<random>!",
    ],
    ["the start of a key", '"svc_live_Ab12"', '"svc_live_<start>"'],
    [
      "a password that was made at random",
      '{"password":"BT9pdbumgrredabQYtQV"}',
      '{"password":"<random>"}',
    ],
    ["a request's id", "1b4e28ba-2fa1-41d2-883f-0016d3cca427", "<uuid>"],
    [
      "a moment, but not its form",
      '"as_of":"2026-01-31 18:05:00","at":"2026-01-31T18:05:00.123Z"',
      '"as_of":"0000-00-00 00:00:00","at":"0000-00-00T00:00:00.000Z"',
    ],
    [
      "a moment in a query",
      "?updated_since=2026-01-31T18%3A05%3A00.1Z",
      "?updated_since=0000-00-00T00%3A00%3A00.000Z",
    ],
    ["a day", '{"date":"2026-01-31"}', '{"date":"0000-00-00"}'],
    ["the header Date", "Sat, 31 Jan 2026 18:05:00 GMT", "<HTTP date>"],
    ["a port of this machine", "http://127.0.0.1:40123/docs", "http://127.0.0.1:<port>/docs"],
    [
      "a cursor, but not where it stands",
      `"next_cursor":"${cursor("n5")}"`,
      '"next_cursor":"<cursor at n5>"',
    ],
    ["milliseconds since 1970", '{"started":1795318671123}', '{"started":"<ms>"}'],
    ["a report in a path", "/reports/89245125443622", "/reports/<report>"],
    ["how long to wait", "Try again in 44 s.", "Try again in <s> s."],
    [
      "figures of Redis",
      '{"port":31044,"memory":{"fragmentationRatio":6.49},"version":"7"}',
      '{"port":"<figure>","memory":{"fragmentationRatio":"<figure>"},"version":"<figure>"}',
    ],
    [
      "what is left of the minute, but not of the day",
      '{"minute":{"limit":120,"remaining":7},"day":{"remaining":9}}',
      '{"minute":{"limit":120,"remaining":"<n>"},"day":{"remaining":9}}',
    ],
    ["an age", '{"age_ms":85}', '{"age_ms":"<ms>"}'],
    [
      "samples of metrics, but not which there are",
      '# HELP requests\nrequests{code="200"} 3\nnodejs_heap{space="new"} 7\n',
      '# HELP requests\nrequests{code="200"} <n>\n',
    ],
  ];
  for (const [what, text, becomes] of masked)
    it(`hide ${what}`, () => expect(maskText(text)).to.equal(becomes));

  const kept = [
    '{"type":"https://fuel.example/problems/bad-cursor","status":422}',
    "Bearer svc_live_nobody",
    '"lat":55.0123,"limit_l":20,"fuels_now":"92,95","queue":"10-20"',
    "n1234567890123",
    "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA",
  ];
  for (const text of kept)
    it(`leave ${text} as it is`, () => expect(maskText(text)).to.equal(text));

  it("leave masked text as it is", () => {
    const pieces = fc.constantFrom(
      ...[...masked.map(([, text]) => text), ...kept, '"errors":3', "svc_live_", "20", "-", ":"],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 8 }), (parts) => {
        const once = maskText(parts.join(" "));
        expect(maskText(once)).to.equal(once);
      }),
    );
  });

  it("call an ETag that comes again by the request that it came with", () => {
    const seen = createSeen();
    const header = (name: string, value: string, of = line): string =>
      createMasker(of, seen).header(name, value);
    expect(header("etag", 'W/"abcdefgh1"')).to.equal('W/"<new etag>"');
    const again = `W/"<etag of ${line}>"`;
    expect(header("etag", 'W/"abcdefgh1"', "GET /other HTTP/1.1")).to.equal(again);
    expect(header("if-none-match", '"x", W/"abcdefgh1"')).to.equal(`"x", ${again}`);
    expect(header("etag", 'W/"abcdefgh2"')).to.equal('W/"<new etag>"');
  });

  it("show whether a report is one that was there before, or none", () => {
    const seen = createSeen();
    const body = (id: string): string => createMasker(line, seen).body(`{"report_id":"${id}"}`);
    expect(body("89245125443622")).to.equal('{"report_id":"<new report>"}');
    expect(body("89245125443622")).to.equal(`{"report_id":"<report of ${line}>"}`);
    expect(body("")).to.equal('{"report_id":""}');
  });

  it("leave an ETag or a cookie that a test made up", () => {
    const { header } = createMasker(line);
    expect(header("etag", 'W/"1"')).to.equal('W/"1"');
    expect(header("if-none-match", 'W/"made up by a test"')).to.equal('W/"made up by a test"');
    expect(header("cookie", "session=made-up")).to.equal("session=made-up");
  });

  it("show a cookie's name and attributes, and whether it is the one that was set", () => {
    const { header } = createMasker(line);
    expect(header("set-cookie", "session=0123456789abcdef; Path=/; HttpOnly")).to.equal(
      "session=<new cookie>; Path=/; HttpOnly",
    );
    expect(header("cookie", "session=0123456789abcdef")).to.equal(`session=<cookie of ${line}>`);
  });

  it("hide how many requests are left in the minute, but not how many there may be", () => {
    const { header } = createMasker(line);
    expect(header("x-ratelimit-remaining", "17")).to.equal("<n>");
    expect(header("x-ratelimit-limit", "120")).to.equal("120");
    expect(header("retry-after", "42")).to.equal("<s>");
  });
});
