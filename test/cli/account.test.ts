import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { credentialsFit } from "#src/operators/operators.ts";
import { findSession, openSession } from "#src/operators/sessions.ts";
import { answerInput, runOperator, type Ran } from "#test/harness/operator.ts";
import { useInstance } from "#test/harness/use.ts";

describe("operator account", function () {
  const instance = useInstance();
  const account = (...args: string[]): Promise<Ran> =>
    runOperator(instance.env, "account", ...args, "--json", "--actor", "root");
  const openFor = async (id: number): Promise<() => Promise<boolean>> => {
    const now = Date.now();
    const who = { kind: "operator", subjectId: id, address: "::1", agent: "" } as const;
    const { token } = await openSession(instance.db, { ...who, now, lifeMs: 60_000 });
    return async () => (await findSession(instance.db, "operator", token, now)) !== null;
  };

  it("makes one with a password that is shown once and opens the console", async () => {
    const { code, json } = await account("create", "--name", "olga", "--role", "operator");
    expect(code).to.equal(0);
    expect(json).to.include({ name: "olga", role: "operator", signs_in_with: "password" });
    const { password } = json as { password: string };
    expect(password).to.match(/^\w{20}$/);
    expect(await credentialsFit(instance.db, { name: "OLGA", password })).to.equal(true);
    const listed = await account("list");
    expect(listed.out).not.to.include(password);
    const [stored] = await rows<{ all: string }>(
      instance.db,
      "select o::text as all from operators o",
    );
    expect(stored!.all).not.to.include(password);
    const [entry] = await rows(
      instance.db,
      "select actor, action, subject, details from operator_log",
    );
    expect(entry).to.deep.equal({
      actor: "root",
      action: "account.create",
      subject: "account olga",
      details: { role: "operator", given: "password" },
    });
    expect((await account("create", "--name", "Olga", "--role", "viewer")).code).to.equal(1);
  });

  it("makes one with a key, which opens the console and is no key of the API's kind", async () => {
    const { json } = await account("create", "--name", "robot", "--role", "viewer", "--key");
    const { key } = json as { key: string };
    expect(key).to.match(/^op_live_[0-9A-Za-z]{49}$/);
    expect(json.signs_in_with).to.equal(`${key.slice(0, 12)}…`);
    expect(await credentialsFit(instance.db, { key })).to.equal(true);
    const other = key.endsWith("x") ? "y" : "x";
    expect(await credentialsFit(instance.db, { key: key.slice(0, -1) + other })).to.equal(false);
    expect(await credentialsFit(instance.db, { name: "robot", password: "" })).to.equal(false);
  });

  it("takes a password from stdin, and none that is short", async () => {
    const create = async (name: string, password: string): Promise<number | null> => {
      const args = ["account", "create", "--name", name, "--role", "viewer", "--password-stdin"];
      return (await answerInput(instance.env, `${password}\n`, ...args, "--json")).code;
    };
    expect(await create("typed", "a long enough one")).to.equal(0);
    const typed = { name: "typed", password: "a long enough one" };
    expect(await credentialsFit(instance.db, typed)).to.equal(true);
    expect(await create("short", "too short")).to.not.equal(0);
  });

  it("reset takes away what an account signed in with, and ends its sessions", async () => {
    const made = (await account("create", "--name", "petr", "--role", "viewer")).json;
    const isOpen = await openFor(made.id as number);
    expect(await isOpen()).to.equal(true);
    const reset = (await account("reset", "petr", "--key")).json;
    expect(await isOpen()).to.equal(false);
    const before = { name: "petr", password: made.password as string };
    expect(await credentialsFit(instance.db, before)).to.equal(false);
    expect(await credentialsFit(instance.db, { key: reset.key as string })).to.equal(true);
  });

  it("totp asks for codes beside a password alone, and goes with a key", async () => {
    const totp = (verb: string, name: string) => account("totp", verb, name);
    expect((await account("create", "--name", "tanya", "--role", "viewer")).json.totp).to.equal(
      false,
    );
    const { json } = await totp("enable", "tanya");
    expect(json).to.include({ name: "tanya", totp: true });
    expect(json.secret).to.match(/^[A-Z2-7]{32}$/);
    expect(json.address).to.match(/^otpauth:\/\/totp\/Fuelmark:tanya\?/);
    const again = await totp("enable", "tanya");
    expect([again.code, again.err]).to.deep.equal([1, "TOTP of account tanya is on already\n"]);
    expect((await account("reset", "tanya")).json.totp).to.equal(true);
    expect((await account("reset", "tanya", "--key")).json.totp).to.equal(false);
    expect((await totp("enable", "tanya")).err).to.include("signs in with a key");
    await account("create", "--name", "tim", "--role", "viewer");
    const both = await Promise.all([totp("enable", "tim"), totp("enable", "tim")]);
    expect(both.map(({ code }) => code).toSorted()).to.deep.equal([0, 1]);
    expect((await totp("disable", "tanya")).code).to.equal(1);
    expect((await totp("enable", "nobody")).code).to.equal(1);
    const env = { ...instance.env, REPORTER_PEPPER: "" };
    const without = await runOperator(env, "account", "totp", "enable", "vera");
    expect([without.code, without.err]).to.satisfy(
      ([code, err]: [number, string]) => code === 1 && err.includes("REPORTER_PEPPER"),
    );
  });

  it("set-role leaves sessions open; disable ends them and lets nobody in until enable", async () => {
    const made = (await account("create", "--name", "vera", "--role", "viewer")).json;
    const isOpen = await openFor(made.id as number);
    expect((await account("set-role", "vera", "operator")).json.role).to.equal("operator");
    expect(await isOpen()).to.equal(true);
    expect((await account("disable", "vera")).json.disabled).to.be.a("string");
    expect(await isOpen()).to.equal(false);
    const own = { name: "vera", password: made.password as string };
    expect(await credentialsFit(instance.db, own)).to.equal(false);
    expect((await account("enable", "vera")).json.disabled).to.equal(null);
    expect(await credentialsFit(instance.db, own)).to.equal(true);
    expect((await account("disable", "nobody")).code).to.equal(1);
  });
});
