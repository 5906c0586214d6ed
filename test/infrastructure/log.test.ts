import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { pino } from "pino";
import { describeError, onlyNamed, seldomRepeated } from "#src/infrastructure/log.ts";

/** What a line looks like that is logged as every process does. */
function logged(fields: object): Record<string, unknown> {
  let line = "";
  const options = { formatters: { log: onlyNamed }, serializers: { err: describeError } };
  pino(options, { write: (text: string) => void (line = text) }).info(fields, "x");
  const {
    level: _level,
    time: _time,
    pid: _pid,
    hostname: _hostname,
    msg: _msg,
    ...rest
  } = JSON.parse(line) as Record<string, unknown>;
  return rest;
}

describe("what is logged", () => {
  it("is what has a name that is meant for it; the names of the rest are told", () => {
    expect(logged({ request_id: "r1", status: 200 })).to.deep.equal({
      request_id: "r1",
      status: 200,
    });
    const leaks = { headers: { authorization: "Bearer s" }, user_ref: "u", query: "q=1" };
    expect(logged({ request_id: "r1", ...leaks })).to.deep.equal({
      request_id: "r1",
      dropped: ["headers", "user_ref", "query"],
    });
  });

  it("says of an error what it is, and nothing that hangs on it", () => {
    const error = Object.assign(new Error("boom", { cause: new TypeError("deeper") }), {
      code: "23505",
      detail: "Key (hash)=(secret) already exists",
      config: { password: "secret" },
    });
    const { err } = logged({ err: error }) as { err: Record<string, unknown> };
    expect(err).to.include({ name: "Error", message: "boom", code: "23505" });
    expect(err["cause"]).to.include({ name: "TypeError", message: "deeper" });
    expect(JSON.stringify(err)).to.not.contain("secret");
    expect(logged({ err: "only words" })).to.deep.equal({ err: "only words" });
    expect(logged({ err: { password: "secret" } })).to.deep.equal({ err: "object" });
  });

  it("holds the same warning a hundred times a minute, says how many more there were, and holds back no other line", () => {
    const lines: { msg: string; lines?: number }[] = [];
    let now = 0;
    const log = pino(
      { hooks: { logMethod: seldomRepeated(() => now) }, formatters: { log: onlyNamed } },
      { write: (text: string) => void lines.push(JSON.parse(text)) },
    );
    for (let n = 0; n < 1000; n += 1) log.warn({ err: String(n) }, "fails");
    log.error("fails otherwise");
    log.info("fails");
    expect(lines).to.have.length(102);
    now = 60_000;
    log.warn("fails");
    expect(lines.slice(102).map(({ msg, lines: n }) => [msg, n])).to.deep.equal([
      ["lines like this were left out", 900],
      ["fails", undefined],
    ]);
  });

  it("has only such names wherever something is logged", () => {
    let found = 0;
    for (const folder of ["src", "api", "workers", "snapshots", "demo"]) {
      for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        if (!file.endsWith(".ts")) continue;
        const text = readFileSync(join(folder, file), "utf8");
        for (const [, fields = ""] of text.matchAll(/\blog(?:\.\w+|\[level\])\(\s*\{([^{}]*)\}/g)) {
          const names = fields
            .split(",")
            .map((part) => /^\s*(\w+)\s*(?::|$)/.exec(part)?.[1])
            .filter((name) => name !== undefined);
          found += names.length;
          const line = Object.fromEntries(names.map((name) => [name, 1]));
          expect(onlyNamed(line), `${folder}/${file}`).to.deep.equal(line);
        }
      }
    }
    expect(found).to.be.above(40);
  });
});
