import { expect } from "chai";
import fc from "fast-check";
import { rows } from "#src/infrastructure/db.ts";
import { type Edge, startEdge } from "#test/api/edge.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import { judge, judgeAny, storedBy } from "#test/fuzz/judge.ts";
import { rawRequests } from "#test/fuzz/raw.ts";
import { type Drawn, goodRequests } from "#test/fuzz/requests.ts";
import { scrambles } from "#test/fuzz/scramble.ts";
import { spoiltRequests } from "#test/fuzz/spoil.ts";
import { trickle } from "#test/fuzz/trickle.ts";
import { bytesOf } from "#test/fuzz/bytes.ts";
import { exchange, type Heard } from "#test/harness/wire.ts";
import { type Contract, createContract, type OpenApi } from "#test/harness/contract.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";

/** `npm run test:fuzz` asks for 5,000. */
const requests = Number(process.env.FUZZ_REQUESTS ?? 300);

describe(`a fuzzer of the OpenAPI document, ${requests} requests`, function () {
  this.timeout(240_000 + requests * 100);
  let instance: TestInstance;
  let country: Country;
  let roles: RunningRole[];
  let port: number;
  let contract: Contract;
  let document: OpenApi;
  const told = { marks: 0, limitRequests: 0 };
  const met = new Map<string, number>();

  before(async () => {
    instance = await createTestInstance({ WAIT_MS: "300" });
    country = await openCountry(instance.config, 20);
    roles = await Promise.all(["web", "marks"].map((role) => startRole(role, instance.env)));
    const { baseUrl } = roles[0]!;
    port = Number(new URL(baseUrl).port);
    document = (await (await fetch(`${baseUrl}/api/v1/partner/openapi.json`)).json()) as OpenApi;
    contract = createContract(document);
  });
  after(async () => {
    await Promise.all(roles.map((role) => role.stop()));
    await country.close();
    await instance.drop();
  });

  const authorization = ({ key }: Pick<Drawn, "key">): string => `Bearer ${country[key]}`;
  const send = async (bytes: Buffer, method: string, patience = {}): Promise<Heard> => {
    const heard = await exchange(port, bytes, method, patience);
    for (const answer of heard.answers) {
      const { marks, limitRequests } = storedBy(answer);
      told.marks += marks;
      told.limitRequests += limitRequests;
      met.set(String(answer.status), (met.get(String(answer.status)) ?? 0) + 1);
    }
    return heard;
  };
  const fails = (what: string, fault: string, drawn: Drawn, { answers }: Heard): never => {
    const { method, target, headers, body } = drawn;
    const sent = `${method} ${target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 500)} ${body?.toString().slice(0, 300)}`;
    throw new Error(`${what}: ${fault}\n${sent}\n${answers[0]?.body?.slice(0, 500)}`);
  };
  const good = () => goodRequests(document, { stationIds: country.stationIds });
  const share = (part: number): { numRuns: number } => ({ numRuns: Math.ceil(requests * part) });
  const countRows = async () =>
    rows(
      country.db,
      `select (select count(*)::int from marks) as marks, (select count(*)::int from limit_requests) as wishes,
        (select count(*)::int from reporters) as reporters, (select count(*)::int from mark_keys) as keys_of_marks,
        (select md5(string_agg(p::text, ',' order by id)) from partners p) as partners,
        (select md5(string_agg((to_jsonb(k) - 'last_used_at')::text, ',' order by id)) from keys k) as keys`,
    ).then(([row]) => row as Record<string, number | string>);
  let stored: Record<string, number | string>;

  it("gets documented answers to requests that fit the document", async () => {
    stored = await countRows();
    await fc.assert(
      fc.asyncProperty(good(), async (drawn) => {
        const heard = await send(bytesOf(drawn, authorization(drawn)), drawn.method);
        const fault = judge(contract, drawn, heard);
        if (fault !== null) fails("fitting", fault, drawn, heard);
      }),
      share(0.3),
    );
  });

  it("gets documented answers to requests with one thing wrong", async () => {
    await fc.assert(
      fc.asyncProperty(spoiltRequests(good()), async (drawn) => {
        const heard = await send(bytesOf(drawn, authorization(drawn)), drawn.method);
        const fault = judge(contract, drawn, heard);
        if (fault !== null) fails(drawn.spoilt, fault, drawn, heard);
      }),
      share(0.5),
    );
  });

  it("gets problems, or nothing yet, for requests with changed bytes", async () => {
    await fc.assert(
      fc.asyncProperty(good(), scrambles, async (drawn, scramble) => {
        const bytes = scramble(bytesOf(drawn, authorization(drawn)));
        const method = bytes.subarray(0, 5).toString() === "HEAD " ? "HEAD" : "";
        // One that is not whole any more is waited for.
        const heard = await send(bytes, method, { patienceMs: 3000 });
        for (const answer of heard.answers) {
          const fault = judgeAny(answer);
          if (fault !== null)
            throw new Error(`${fault}\n${bytes.toString("latin1").slice(0, 800)}\n${answer.body}`);
        }
      }),
      share(0.2),
    );
  });

  for (const [what, bytes, answer] of rawRequests) {
    it(`gets ${answer} for ${what}`, async () => {
      const auth = `Authorization: Bearer ${country.secret}\r\n`;
      const sent = typeof bytes === "string" ? Buffer.from(bytes.replace("{auth}", auth)) : bytes;
      const heard = await send(sent, "GET");
      expect(heard.answers).to.have.length(1);
      const [only] = heard.answers;
      expect(judgeAny(only!)).to.equal(null);
      const code = /"type":"[^"]*\/([^"/]+)"/.exec(only!.body ?? "")?.[1] ?? "";
      expect(`${only!.status} ${code}`.trim()).to.equal(answer);
      expect(heard.closed).to.equal(true);
    });
  }

  it("has met answers of many kinds", () => {
    const rare = requests < 5000 ? [] : ["202", "204", "304", "401", "409", "413", "415"];
    for (const status of ["200", "403", "404", "405", "422", ...rare])
      expect(met.get(status) ?? 0, `${status} among ${JSON.stringify([...met])}`).to.be.above(0);
  });

  it("leaves in the database what it was told is stored, and nothing else", async () => {
    const now = await countRows();
    const more = (name: string): number => Number(now[name]) - Number(stored[name]);
    expect([more("marks"), more("wishes")]).to.deep.equal([told.marks, told.limitRequests]);
    expect(more("reporters")).to.be.most(told.marks);
    expect(more("keys_of_marks")).to.be.most(told.marks);
    expect([now["partners"], now["keys"]]).to.deep.equal([stored["partners"], stored["keys"]]);
  });

  it("leaves the process well, without a line about an internal error", async () => {
    const web = roles[0]!;
    expect((await fetch(`${web.baseUrl}/readyz`)).status).to.equal(200);
    expect(web.lines.filter((line) => line.includes("internal error"))).to.deep.equal([]);
  });

  describe("with requests that come a byte at a time", () => {
    let edge: Edge;
    before(async () => {
      edge = await startEdge(
        { ...instance.config, logLevel: "silent" },
        { times: { headersMs: 600, requestMs: 900, checkMs: 100 } },
      );
    });
    after(() => edge?.stop());

    const json = "Content-Type: application/json\r\n";
    const slow: [what: string, head: string, rest: string][] = [
      ["a body", `${json}Content-Length: 500\r\n\r\n{`, "a"],
      ["chunks", `${json}Transfer-Encoding: chunked\r\n\r\n`, "1\r\na\r\n"],
      ["a head", "X-Slow: ", "a"],
    ];
    const refusedAndClosed = async (to: number, begin: string, rest: string, everyMs: number) => {
      const before = await countRows();
      const answers = await trickle(
        to,
        `POST /api/v1/partner/stations/n1000/report HTTP/1.1\r\nAuthorization: Bearer ${country.secret}\r\n${begin}`,
        rest,
        everyMs,
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([422]);
      expect(judgeAny(answers[0]!)).to.equal(null);
      expect(await countRows()).to.deep.equal(before);
    };
    for (const [what, begin, rest] of slow)
      it(`answers 422 and closes when ${what} takes too long`, () =>
        refusedAndClosed(edge.port, begin, rest, 50));

    if (requests >= 5000)
      it("does so with the usual times and a byte a second", () =>
        Promise.all(slow.map(([, begin, rest]) => refusedAndClosed(port, begin, rest, 1000))));
  });
});
