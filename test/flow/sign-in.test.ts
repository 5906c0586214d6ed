import { expect } from "chai";
import { Secret, TOTP } from "otpauth";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { type ConsoleClient, createConsoleClient } from "#test/flow/console-client.ts";
import { type Answer, until } from "#test/flow/client.ts";
import { addOperator, cheapHash, testPassword } from "#test/flow/operators.ts";
import { isCrowded } from "#src/operators/passwords.ts";
import { runOperator } from "#test/harness/operator.ts";
import { useEdge } from "#test/api/edge.ts";

describe("flow: signing in to the console", function () {
  /** It stands still but for the tests: a slow machine lets no delay pass. */
  let now = Date.now();
  const edge = useEdge({
    settings: { SIGN_INS_PER_MINUTE: "1000", TRUSTED_PROXIES: "127.0.0.1" },
    clock: () => now,
  });
  let name: string;
  let networks = 0;
  let accounts = 0;
  beforeEach(async () => {
    name = `account ${(accounts += 1)}`;
    await addOperator(edge.db, name);
  });

  const newNetwork = (): string => `10.0.${(networks += 1) >> 8}.${networks & 255}`;
  const attempt = (
    client: ConsoleClient,
    password = testPassword,
    ip = newNetwork(),
    who = name,
  ): Promise<Answer> =>
    client.call("POST", "/session", { name: who, password }, { "X-Forwarded-For": ip });
  const stranger = (): ConsoleClient => createConsoleClient(edge.origin);
  const browserOf = async (who = name): Promise<ConsoleClient> => {
    const client = stranger();
    expect((await attempt(client, testPassword, newNetwork(), who)).status).to.equal(201);
    return client;
  };
  const guesses = async (n: number, client?: ConsoleClient, ip?: string): Promise<number[]> => {
    const found: number[] = [];
    for (let i = 0; i < n; i += 1)
      found.push((await attempt(client ?? stranger(), "a wrong password", ip)).status);
    return found;
  };
  const all = (n: number, status: number): number[] => Array<number>(n).fill(status);
  const statusOf = async (client: ConsoleClient, headers = {}): Promise<number> =>
    (await client.call("GET", "/session", undefined, headers)).status;

  it("lasts while the database takes no writes", async () => {
    const client = await browserOf();
    now += 2 * minuteMs;
    await edge.db.raw(`create function no_writes() returns trigger language plpgsql
        as $$ begin raise sqlstate '25006'; end $$;
      create trigger no_writes before update on sessions execute function no_writes()`);
    try {
      expect(await statusOf(client)).to.equal(200);
    } finally {
      await edge.db.raw("drop function no_writes cascade");
    }
    expect(await statusOf(client)).to.equal(200);
  });

  describe("attempts", () => {
    it("from elsewhere, ten of them, lock nobody out", async () => {
      expect(await guesses(10)).to.deep.equal(all(10, 401));
      expect((await attempt(stranger())).status).to.equal(201);
    });

    it("of one network at one account wait longer and longer, and leave others alone", async () => {
      const ip = newNetwork();
      expect(await guesses(5, undefined, ip)).to.deep.equal(all(5, 401));
      for (const waitS of [1, 2, 4, 8]) {
        const refused = await attempt(stranger(), testPassword, ip);
        expect(refused.status).to.equal(429);
        expect(refused.body.type).to.match(/rate-limit-exceeded$/);
        expect(refused.headers.get("retry-after")).to.equal(String(waitS));
        now += waitS * 1000;
        expect(await guesses(1, undefined, ip)).to.deep.equal([401]);
      }
      expect((await attempt(stranger())).status).to.equal(201);
      const other = `${name} too`;
      await addOperator(edge.db, other);
      expect((await attempt(stranger(), testPassword, ip, other)).status).to.equal(201);
    });

    it("of strangers are used up together, and a known browser of this account still signs in", async () => {
      const known = await browserOf();
      const ofOther = await addOperator(edge.db, `${name} other`).then(() =>
        browserOf(`${name} other`),
      );
      expect(await guesses(20)).to.deep.equal(all(20, 401));
      const refused = await attempt(stranger());
      expect(refused.status).to.equal(429);
      expect(refused.headers.get("retry-after")).to.equal("1");
      expect((await attempt(ofOther)).status).to.equal(429);
      expect((await attempt(known)).status).to.equal(201);
      // A minute is the longest that strangers can keep a new browser waiting.
      now += minuteMs;
      expect((await attempt(stranger())).status).to.equal(201);
    });

    it("of a known browser have a delay of their own", async () => {
      const known = await browserOf();
      const { browser } = known;
      expect(await guesses(5, known)).to.deep.equal(all(5, 401));
      expect((await attempt(known)).status).to.equal(429);
      expect((await attempt(stranger())).status).to.equal(201);
      now += minuteMs;
      expect((await attempt(known)).status).to.equal(201);
      // Its next proof has the same id, so that signing in does not start a new count beside this one.
      expect(known.browser.split(".")[0]).to.equal(browser.split(".")[0]);
    });

    it("of a browser count as a stranger's after a new password, and after half a year", async () => {
      const known = await browserOf();
      const { browser } = known;
      // The same words with a new salt: another password, as far as anything here can tell.
      await rows(edge.db, "update operators set password = ? where name = ?", [cheapHash(), name]);
      expect(await guesses(20)).to.deep.equal(all(20, 401));
      known.browser = browser;
      expect((await attempt(known)).status).to.equal(429);
      now += minuteMs;
      expect((await attempt(known)).status).to.equal(201);
      now += 181 * 24 * hourMs;
      const old = known.browser;
      expect(await guesses(20)).to.deep.equal(all(20, 401));
      known.browser = old;
      expect((await attempt(known)).status).to.equal(429);
    });

    it("with a proof that nobody gave are a stranger's", async () => {
      const { browser } = await browserOf();
      const [id, end, mac] = browser.split("=")[1]!.split(".") as [string, string, string];
      expect(await guesses(20)).to.deep.equal(all(20, 401));
      for (const proof of [
        `${"A".repeat(16)}.${end}.${mac}`,
        `${id}.${Number(end) + 1}.${mac}`,
        `${id}.${end}.${"A".repeat(43)}`,
        "x",
      ]) {
        const client = stranger();
        client.browser = `console-browser=${proof}`;
        expect((await attempt(client)).status, proof).to.equal(429);
      }
    });
  });

  describe("the session", () => {
    it("is a new one each time, and the one that the browser had is over", async () => {
      const client = await browserOf();
      const former = createConsoleClient(edge.origin, client.cookie);
      expect(await guesses(1, client)).to.deep.equal([401]);
      expect(await statusOf(former)).to.equal(200);
      expect((await attempt(client)).status).to.equal(201);
      expect(client.cookie).not.to.equal(former.cookie);
      expect(await statusOf(client)).to.equal(200);
      expect(await statusOf(former)).to.equal(401);
    });

    it("is not the one that somebody else has put into the browser", async () => {
      const planted = "console-session=" + "A".repeat(43);
      const victim = createConsoleClient(edge.origin, planted);
      expect((await attempt(victim)).status).to.equal(201);
      expect(victim.cookie).not.to.equal(planted);
      expect(await statusOf(createConsoleClient(edge.origin, planted))).to.equal(401);
    });

    it("ends when nobody has used it for CONSOLE_IDLE_MS, though its page asks by a timer", async () => {
      const client = await browserOf();
      now += hourMs;
      expect(await statusOf(client)).to.equal(200);
      now += hourMs + 50 * minuteMs;
      expect(await statusOf(client, { "X-Unattended": "1" })).to.equal(200);
      now += 10 * minuteMs;
      expect(await statusOf(client)).to.equal(401);
      const other = await browserOf();
      const { sessions } = (await other.call("GET", "/sessions")).body as {
        sessions: { account: string }[];
      };
      expect(sessions.filter(({ account }) => account === name)).to.have.length(1);
    });

    it("ends after SESSION_LIFE_MS, however much it is used", async () => {
      const client = await browserOf();
      for (let hour = 1; hour < 12; hour += 1) {
        now += hourMs;
        expect(await statusOf(client), `hour ${hour}`).to.equal(200);
      }
      now += hourMs;
      expect(await statusOf(client)).to.equal(401);
    });
  });

  describe("a failure", () => {
    interface Counted {
      subject: string;
      network: string;
      count: number;
    }
    const counted = (subject: string): Promise<Counted[]> =>
      rows<Counted>(
        edge.db,
        `select subject, details ->> 'network' as network, (details ->> 'count')::int as count
         from operator_log where action = 'console.sign-in-failed' and subject = ? order by id`,
        [subject],
      );
    const outcomes = async (): Promise<Record<string, number>> => {
      const text = await (await fetch(`${edge.origin}/metrics`)).text();
      const lines = text.matchAll(/^fuelmark_sign_ins_total\{outcome="([^"]+)"\} (\d+)$/gm);
      return Object.fromEntries([...lines].map(([, outcome, n]) => [outcome!, Number(n)]));
    };

    it("is counted by account, network and hour, without an address", async () => {
      now = Math.ceil(now / hourMs) * hourMs;
      const ip = newNetwork();
      await guesses(3, undefined, ip);
      await guesses(1);
      const entries = await counted(`account ${name}`);
      expect(entries.map(({ count }) => count)).to.deep.equal([3, 1]);
      for (const { network } of entries) expect(network).to.match(/^[0-9a-f]{8}$/);
      now += hourMs;
      await guesses(1, undefined, ip);
      expect((await counted(`account ${name}`)).map(({ count }) => count)).to.deep.equal([3, 1, 1]);
      const client = await browserOf();
      const shown = await client.call("GET", "/log?action=sign-in-failed");
      expect(shown.body.entries[0]).to.include({ actor: "console", subject: `account ${name}` });
    });

    it("of a name that no account has is counted together with all others", async () => {
      for (const who of ["nobody", "no one"])
        await attempt(stranger(), "a wrong password", "192.0.2.9", who);
      expect(await counted("unknown account")).to.deep.include({
        subject: "unknown account",
        network: (await counted("unknown account"))[0]!.network,
        count: 2,
      });
    });

    it("in a flood from everywhere are refused before a crowd waits, and a known browser goes first", async () => {
      const known = await browserOf();
      // Of names that nobody has: each has a count of its own.
      const flood = Array.from({ length: 60 }, (_, n) =>
        attempt(stranger(), "a wrong password", newNetwork(), `nobody ${name} ${n}`),
      );
      const over: string[] = [];
      void Promise.all(flood).then(() => over.push("flood"));
      await until(async () => isCrowded(), Boolean);
      expect((await attempt(known)).status).to.equal(201);
      expect(over).to.deep.equal([]);
      const answers = await Promise.all(flood);
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).to.be.above(20);
      expect(refused[0]!.headers.get("retry-after")).to.equal("3");
      expect((await attempt(stranger())).status).to.equal(201);
    });

    it("in a flood fills neither log nor alarms, and each attempt is in the metric", async () => {
      now = Math.ceil(now / hourMs) * hourMs;
      const before = await outcomes();
      expect(await guesses(20)).to.deep.equal(all(20, 401));
      expect(await guesses(2)).to.deep.equal(all(2, 429));
      for (const waitS of [1, 2, 4, 8, 16]) {
        now += waitS * 1000;
        expect(await guesses(1)).to.deep.equal([401]);
      }
      const entries = await counted(`account ${name}`);
      expect(entries).to.have.length(21);
      expect(entries.at(-1)).to.include({ network: "others", count: 5 });
      const after = await outcomes();
      expect(after["sign-in-failed"]! - (before["sign-in-failed"] ?? 0)).to.equal(25);
      expect(after["rate-limit-exceeded"]! - (before["rate-limit-exceeded"] ?? 0)).to.equal(2);
      const [{ id }] = (await rows<{ id: number }>(
        edge.db,
        "select id from operators where name = ?",
        [name],
      )) as [{ id: number }];
      const alarms = await rows<{ kind: string; details: object }>(
        edge.db,
        "select kind, details from alarms where subject = ?",
        [`account ${id}`],
      );
      expect(alarms).to.deep.equal([{ kind: "sign-ins-failed", details: { failures: 25 } }]);
    });
  });

  describe("with TOTP", () => {
    const stepMs = 30_000;
    let secret: Secret;
    beforeEach(async () => {
      now = Math.ceil(now / stepMs) * stepMs;
      const { json } = await runOperator(
        edge.instance.env,
        ...["account", "totp", "enable", name, "--json"],
      );
      secret = Secret.fromBase32(json.secret as string);
    });
    const codeAt = (timestamp: number): string => TOTP.generate({ secret, timestamp });
    const send = async (code?: string, password = testPassword, ip = newNetwork()) => {
      const body = { name, password, ...(code === undefined ? {} : { code }) };
      const answer = await stranger().call("POST", "/session", body, { "X-Forwarded-For": ip });
      return [
        answer.status,
        String(answer.body?.type ?? "")
          .split("/")
          .at(-1),
      ]
        .join(" ")
        .trim();
    };
    const needed = "401 sign-in-code-required";

    it("asks whoever knows the password for a code, and tells nobody else of it", async () => {
      expect(await send(undefined, "a wrong password")).to.equal("401 sign-in-failed");
      expect(await send(codeAt(now), "a wrong password")).to.equal("401 sign-in-failed");
      expect(await send()).to.equal(needed);
      const other = `${name} without`;
      await addOperator(edge.db, other);
      const plain = await attempt(stranger(), "a wrong password", newNetwork(), other);
      const guarded = await attempt(stranger(), "a wrong password");
      for (const { body } of [plain, guarded]) delete body.request_id;
      expect(guarded.body).to.deep.equal(plain.body);
      expect(await send(codeAt(now).replace(/^.../, "$& "))).to.equal("201");
    });

    it("takes a code once, and none of an earlier step, also by two at once", async () => {
      expect(await send(codeAt(now))).to.equal("201");
      expect(await send(codeAt(now))).to.equal(needed);
      expect(await send(codeAt(now - stepMs))).to.equal(needed);
      const next = codeAt(now + stepMs);
      const both = await Promise.all([send(next), send(next)]);
      expect(both.sort()).to.deep.equal(["201", needed]);
    });

    it("takes no code that is two steps off", async () => {
      for (const off of [-2, 2]) {
        // By chance two steps have the same six digits.
        const near = [-1, 0, 1].map((step) => codeAt(now + step * stepMs));
        const code = codeAt(now + off * stepMs);
        if (!near.includes(code)) expect(await send(code)).to.equal(needed);
      }
      expect(await send(codeAt(now - stepMs))).to.equal("201");
    });

    it("holds up who guesses codes, also when they ask without one in between", async () => {
      const ip = newNetwork();
      const wrong = ["000000", "111111"].find((code) =>
        [-1, 0, 1].every((step) => codeAt(now + step * stepMs) !== code),
      )!;
      for (const code of [wrong, undefined, wrong, undefined, wrong])
        expect(await send(code, testPassword, ip)).to.equal(needed);
      expect(await send(codeAt(now), testPassword, ip)).to.equal("429 rate-limit-exceeded");
      expect(await send(codeAt(now))).to.equal("201");
    });

    it("asks for nothing more once it is off, and ends what was open when it changes", async () => {
      const client = stranger();
      const body = { name, password: testPassword, code: codeAt(now) };
      expect((await client.call("POST", "/session", body)).status).to.equal(201);
      const { code } = await runOperator(edge.instance.env, "account", "totp", "disable", name);
      expect(code).to.equal(0);
      expect(await statusOf(client)).to.equal(401);
      expect(await send()).to.equal("201");
    });

    it("keeps its secret out of the database and the log", async () => {
      const [stored] = await rows<{ found: boolean }>(
        edge.db,
        `select position(decode(?, 'hex') in totp_secret) > 0 as found from operators where name = ?`,
        [secret.hex, name],
      );
      expect(stored!.found).to.equal(false);
      const [entry] = await rows<{ all: string }>(
        edge.db,
        "select l::text as all from operator_log l where action = 'account.totp-enable' order by id desc limit 1",
      );
      expect(entry!.all).to.include(name).and.not.include(secret.base32);
    });
  });

  it("is written down, with whether the browser was known", async () => {
    const client = await browserOf();
    await attempt(client);
    const logged = await rows<{ browser: string }>(
      edge.db,
      "select details->>'browser' as browser from operator_log where action = 'console.sign-in' and actor = ? order by id",
      [name],
    );
    expect(logged.map(({ browser }) => browser)).to.deep.equal(["new", "known"]);
  });
});
