import { expect } from "chai";
import type { ConsoleCall } from "#api/console/operator-gate.ts";
import { consoleCalls } from "#api/console/pages.ts";
import { dayMs } from "#src/domain/units.ts";
import type { ConsoleHits } from "#src/contract/console.ts";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { createPageClient } from "#test/flow/page-client.ts";
import {
  type ConsoleClient,
  createConsoleClient,
  signIn,
  useAccount,
} from "#test/flow/console-client.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import { useStage } from "#test/flow/stage.ts";
import { useEdgeOn } from "#test/api/edge.ts";

/** A request that each call takes from an operator, and what it answers then. A new call must be placed here. */
const placed: Record<string, { path?: string; body?: unknown; status: number }> = {
  "GET /session": { status: 200 },
  "GET /sessions": { status: 200 },
  "GET /find": { path: "/find?q=Brand", status: 200 },
  "DELETE /sessions/{id}": { path: "/sessions/999999", status: 404 },
  "GET /partners": { status: 200 },
  "GET /partners/{id}": { path: "/partners/1", status: 200 },
  "POST /partners": { body: { name: "New" }, status: 201 },
  "PATCH /partners/{id}": { path: "/partners/1", body: { rpm: 99_000 }, status: 200 },
  "POST /partners/{id}/launch": {
    path: "/partners/999999/launch",
    body: { until: Date.now() + dayMs, new_users: 10, limit: 10 },
    status: 404,
  },
  "DELETE /partners/{id}/launch": { path: "/partners/999999/launch", status: 404 },
  "POST /keys": { body: { partner_id: 1, kind: "secret" }, status: 201 },
  "PATCH /keys/{id}": { path: "/keys/1", body: { label: "first" }, status: 200 },
  "POST /keys/{id}/limit": {
    path: "/keys/999999/limit",
    body: { to: 1, until: null },
    status: 404,
  },
  "POST /keys/{id}/revoke": { path: "/keys/999999/revoke", status: 404 },
  "GET /limit-requests": { status: 200 },
  "POST /limit-requests/{id}/approve": {
    path: "/limit-requests/999/approve",
    body: {},
    status: 404,
  },
  "POST /limit-requests/{id}/reject": { path: "/limit-requests/999/reject", body: {}, status: 404 },
  "POST /limit-requests/{id}/undo": { path: "/limit-requests/999/undo", status: 404 },
  "GET /partners/{id}/webhooks": { path: "/partners/1/webhooks", status: 200 },
  "POST /webhooks/{id}/enable": { path: "/webhooks/999/enable", status: 404 },
  "POST /webhooks/{id}/disable": { path: "/webhooks/999/disable", status: 404 },
  "GET /review": { status: 200 },
  "POST /review/approve": { body: { ids: [1] }, status: 200 },
  "POST /review/reject": { body: { ids: [1] }, status: 200 },
  "POST /review/{id}/undo": { path: "/review/1/undo", status: 404 },
  "GET /review/groups": { status: 200 },
  "POST /review/preview": { body: { city: "" }, status: 200 },
  "POST /review/groups/approve": { body: { network: "00000000" }, status: 200 },
  "POST /review/groups/reject": { body: { since: Date.UTC(2100, 0) }, status: 200 },
  "GET /review/decisions": { status: 200 },
  "GET /review/decisions/{id}": { path: "/review/decisions/999999", status: 404 },
  "POST /review/decisions/{id}/undo": { path: "/review/decisions/999999/undo", status: 404 },
  "POST /reporters/{id}/block": {
    path: "/reporters/999999/block",
    body: { until: null },
    status: 404,
  },
  "POST /networks/{id}/block": {
    path: "/networks/00000000/block",
    body: { until: null },
    status: 404,
  },
  "POST /rollback/preview": { body: { partner: 1 }, status: 200 },
  "POST /rollback": { body: { since: Date.UTC(2100, 0) }, status: 200 },
  "GET /choices": { status: 200 },
  "GET /networks": { status: 200 },
  "GET /reporters/{id}": { path: "/reporters/999999", status: 404 },
  "POST /reporters/find": { body: { device: "nobody's" }, status: 200 },
  "GET /rollbacks": { status: 200 },
  "GET /rollbacks/{id}": { path: "/rollbacks/999999", status: 404 },
  "POST /rollbacks/{id}/undo": { path: "/rollbacks/999999/undo", status: 404 },
  "POST /reporters/erase": { body: { device: "nobody's" }, status: 200 },
  "POST /reporters/export": { body: { device: "nobody's" }, status: 200 },
  "GET /stations": { path: "/stations?q=Brand", status: 200 },
  "GET /stations/{id}": { path: `/stations/${placeOf(0).id}`, status: 200 },
  "PATCH /stations/{id}": {
    path: "/stations/nowhere",
    body: { name: "New", was: { name: "Old" } },
    status: 404,
  },
  "POST /stations/{id}/close": { path: "/stations/nowhere/close", body: {}, status: 404 },
  "POST /stations/{id}/reopen": { path: "/stations/no%20where/reopen", status: 404 },
  "GET /station-pairs": { status: 200 },
  "POST /stations/{id}/merge": {
    path: "/stations/nowhere/merge",
    body: { other: placeOf(0).id },
    status: 404,
  },
  "POST /stations/{id}/split": { path: "/stations/nowhere/split", status: 404 },
  "POST /stations/{id}/keep-apart": {
    path: "/stations/nowhere/keep-apart",
    body: { other: placeOf(0).id },
    status: 409,
  },
  "GET /brands": { status: 200 },
  "POST /brands/{id}/alias": { path: "/brands/Q8/alias", body: { brand: "№" }, status: 422 },
  "DELETE /brands/{id}/alias": { path: "/brands/Q8/alias", status: 404 },
  "POST /stations": { body: { name: "New", lat: 55.1, lon: 37.1 }, status: 201 },
  "GET /suggestions": { status: 200 },
  "POST /suggestions/{id}/done": { path: "/suggestions/999/done", status: 404 },
  "POST /suggestions/{id}/dismiss": { path: "/suggestions/999/dismiss", status: 404 },
  "POST /suggestions/{id}/undo": { path: "/suggestions/999/undo", status: 404 },
  "GET /field-sources": { status: 200 },
  "GET /field-sources/{id}/preview": { path: "/field-sources/name/preview?sources=", status: 200 },
  "POST /field-sources/{id}": { path: "/field-sources/no", body: { sources: [] }, status: 404 },
  "GET /imports": { status: 200 },
  "GET /feeds": { status: 200 },
  "POST /feeds": { body: { source: "it-mimit", every_s: 3600 }, status: 201 },
  "POST /feeds/{id}/run": { path: "/feeds/999/run", body: {}, status: 404 },
  "POST /feeds/{id}/pause": { path: "/feeds/999/pause", status: 404 },
  "POST /feeds/{id}/resume": { path: "/feeds/999/resume", status: 404 },
  "DELETE /feeds/{id}": { path: "/feeds/999", status: 404 },
  "GET /imports/{id}/refused": { path: "/imports/999/refused", status: 404 },
  "GET /imports/{id}/refused.csv": { path: "/imports/999/refused.csv", status: 404 },
  "GET /health": { status: 200 },
  "GET /alarms": { status: 200 },
  "POST /alarms/acknowledge": { body: { ids: [1] }, status: 200 },
  "GET /stations/{id}/chance": { path: `/stations/${placeOf(0).id}/chance`, status: 200 },
  "GET /lies": { status: 200 },
  "POST /retention/allow": { body: { step: "opinions" }, status: 404 },
  "GET /incidents": { status: 200 },
  "POST /incidents": { body: { title: "Late", text: "We look into it." }, status: 201 },
  "POST /incidents/{id}/update": {
    path: "/incidents/999/update",
    body: { text: "More." },
    status: 404,
  },
  "PATCH /incidents/{id}": { path: "/incidents/999", body: { text: "More." }, status: 404 },
  "POST /incidents/{id}/close": {
    path: "/incidents/999/close",
    body: { text: "Done." },
    status: 404,
  },
  "GET /failed-marks": { status: 200 },
  "POST /failed-marks/{id}/retry": { path: "/failed-marks/1/retry", status: 404 },
  "GET /decisions": { path: "/decisions?kind=station", status: 200 },
  "GET /blocks": { status: 200 },
  "GET /log": { status: 200 },
};

describe("flow: who may do what in the console", function () {
  const { instance, country } = useStage(2, [], {
    SIGN_INS_PER_MINUTE: "1000",
    LOG_LEVEL: "silent",
  });
  const edge = useEdgeOn(instance);
  let calls: ConsoleCall[];
  const olga = useAccount(country, () => edge.origin);
  const vera = useAccount(country, () => edge.origin, "vera", "viewer");

  before(async () => {
    calls = consoleCalls(edge.web.services);
  });

  const nameOf = ({ method, path }: ConsoleCall): string => `${method} ${path}`;
  const send = (client: ConsoleClient, call: ConsoleCall, headers: Record<string, string> = {}) => {
    const { path = call.path, body } = placed[nameOf(call)]!;
    return client.call(call.method, path, body, headers);
  };
  /** Sends every call and gives what it was refused with, by the call's name. */
  const refusals = async (
    client: ConsoleClient,
    some: readonly ConsoleCall[],
    headers: Record<string, string> = {},
  ): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    for (const call of some) {
      const { status, body } = await send(client, call, headers);
      found[nameOf(call)] = `${status} ${String(body?.type).split("/").at(-1)}`;
    }
    return found;
  };
  const all = (some: readonly ConsoleCall[], answer: string): Record<string, string> =>
    Object.fromEntries(some.map((call) => [nameOf(call), answer]));
  const logged = async (): Promise<number> =>
    (await rows<{ count: number }>(country.db, "select count(*) from operator_log"))[0]!.count;

  it("knows a place for every call", () => {
    expect(Object.keys(placed).sort()).to.deep.equal(calls.map(nameOf).sort());
  });

  it("answers an operator every call", async () => {
    for (const call of calls) {
      const { status } = await send(olga, call);
      expect(status, nameOf(call)).to.equal(placed[nameOf(call)]!.status);
    }
  });

  it("answers a viewer what is to be seen, and refuses every change", async () => {
    const before = await logged();
    const changes = calls.filter(({ role }) => role === "operator");
    expect(await refusals(vera, changes)).to.deep.equal(all(changes, "403 operator-role-required"));
    for (const call of calls.filter(({ role }) => role === "viewer")) {
      const { status } = await send(vera, call);
      expect(status, nameOf(call)).to.equal(placed[nameOf(call)]!.status);
    }
    expect(await logged()).to.equal(before);
  });

  it("takes from a viewer only what changes nothing but its own sessions", () => {
    const harmless = ["DELETE /sessions/{id}", "POST /review/preview", "POST /rollback/preview"];
    const open = calls.filter(({ role, method }) => role === "viewer" && method !== "GET");
    expect(open.map(nameOf).sort()).to.deep.equal(harmless);
  });

  for (const [whose, sql] of [
    [
      "an expired session",
      "update sessions set expires_at = server_now() - interval '1 s' where id = ?",
    ],
    ["an ended session", "update sessions set ended_at = server_now() where id = ?"],
    [
      "a disabled account",
      "update operators set disabled_at = server_now() where id = (select subject_id from sessions where id = ?)",
    ],
  ] as const) {
    it(`refuses every call of ${whose}`, async () => {
      const name = whose.replaceAll(" ", "-");
      await addOperator(country.db, name);
      const client = await signIn(edge.origin, name);
      const [session] = await rows<{ id: number }>(
        country.db,
        "select max(id) as id from sessions",
      );
      expect((await client.call("GET", "/session")).status).to.equal(200);
      await rows(country.db, sql, [session!.id]);
      const before = await logged();
      expect(await refusals(client, calls)).to.deep.equal(all(calls, "401 session-over"));
      expect(await logged()).to.equal(before);
    });
  }

  it("refuses every call without a session, and with a cookie that nobody gave", async () => {
    for (const cookie of ["", "console-session=", `console-session=${"A".repeat(43)}`, "x=y"]) {
      const stranger = createConsoleClient(edge.origin, cookie);
      expect(await refusals(stranger, calls)).to.deep.equal(all(calls, "401 session-over"));
    }
  });

  it("does not take a partner's session for an operator's", async () => {
    const page = createPageClient(edge.origin, "dashboard");
    await page.post("/session", { key: country.secret });
    expect(page.cookie).to.match(/^dashboard-session=/);
    const partner = createConsoleClient(edge.origin, page.cookie.replace("dashboard", "console"));
    expect(await refusals(partner, calls)).to.deep.equal(all(calls, "401 session-over"));
  });

  it("refuses every change that a page of another site has sent, in an operator's name", async () => {
    const before = await logged();
    const changes = calls.filter(({ method }) => method !== "GET");
    for (const headers of [
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "none" },
    ]) {
      const found = await refusals(olga, changes, headers);
      expect(found).to.deep.equal(all(changes, "403 cross-site-request"));
    }
    const form = { "Content-Type": "text/plain" };
    const asForm = await refusals(olga, changes, form);
    expect(asForm).to.deep.equal(all(changes, "415 unsupported-media-type"));
    expect(await logged()).to.equal(before);
    const signingIn = await createConsoleClient(edge.origin).call(
      "POST",
      "/session",
      { name: "olga", password: testPassword },
      { "Sec-Fetch-Site": "cross-site" },
    );
    expect(signingIn.status).to.equal(403);
  });

  it("finds a few of each kind for the palette, as decisions 13.19 says, a pasted key by its beginning", async () => {
    const find = async (q: string, client = olga): Promise<ConsoleHits> =>
      (await client.call("GET", `/find?q=${encodeURIComponent(q)}`)).body as ConsoleHits;
    const { id } = placeOf(1);
    await until(
      async () => (await find(id)).stations,
      (stations) => stations.length === 1,
    );
    expect((await find(`street ${id.slice(-1)}`)).stations.length).to.be.greaterThan(0);
    expect(await find("  ")).to.deep.equal({ partners: [], keys: [], stations: [] });
    expect((await find("%")).partners).to.deep.equal([]);
    for (let n = 0; n < 9; n++) await olga.call("POST", "/partners", { name: `Palette ${n}` });
    const { partners } = await find("PALETTE", vera);
    expect(partners.map(({ name }) => name)).to.deep.equal(
      [0, 1, 2, 3, 4, 5].map((n) => `Palette ${n}`),
    );
    const [key] = (await find(country.secret)).keys;
    expect(key).to.include({ id: country.keyId, partner_id: country.partnerId, revoked: false });
    expect((await find(String(country.keyId))).keys[0]).to.include({ id: country.keyId });
    // Out of service, it has left the read model; its page is still there.
    await rows(country.db, "update stations set removed_at = now() where id = ?", [id]);
    expect((await find(id)).stations[0]).to.include({ id, removed: true });
    expect((await find(country.secret, createConsoleClient(edge.origin))).keys).to.equal(undefined);
  });

  it("writes every change down under the account that made it", async () => {
    const made = await olga.call("POST", "/partners", { name: "Logged" });
    const [entry] = (await olga.call("GET", `/log?action=partner.create`)).body.entries;
    expect(entry).to.deep.include({ actor: "olga", subject: `partner ${made.body.id}` });
    expect(entry.details).to.include({ name: "Logged" });
  });

  it("takes a partner's name without the spaces around it, and no name of spaces alone", async () => {
    const made = await olga.call("POST", "/partners", { name: "  Spaced " });
    const path = `/partners/${made.body.id}`;
    expect((await olga.call("GET", path)).body.partner.name).to.equal("Spaced");
    const renamed = await olga.call("PATCH", path, { name: " Other " });
    expect(renamed.body.partner.name).to.equal("Other");
    for (const [method, where] of [
      ["POST", "/partners"],
      ["PATCH", path],
    ] as const)
      expect((await olga.call(method, where, { name: "   " })).status, method).to.equal(422);
  });

  it("gives a cookie that no script can read and no other site can send", async () => {
    expect(olga.setCookie.split("; ")).to.include.members([
      "httponly",
      "samesite=strict",
      "path=/console/",
    ]);
    const [stored] = await rows<{ found: boolean }>(
      country.db,
      "select bool_or(position(convert_to(?, 'UTF8') in hash) > 0) as found from sessions",
      [olga.cookie.split("=")[1]],
    );
    expect(stored!.found).to.equal(false);
  });

  it("signs out: the session is over for whoever has its cookie", async () => {
    const client = await signIn(edge.origin, "vera");
    const copy = createConsoleClient(edge.origin, client.cookie);
    expect((await client.call("DELETE", "/session")).status).to.equal(204);
    expect(client.cookie).to.equal("");
    expect((await copy.call("GET", "/session")).status).to.equal(401);
  });

  it("shows a viewer its own sessions, and an operator everybody's, who can end them", async () => {
    const phone = await signIn(edge.origin, "vera");
    const own = (await vera.call("GET", "/sessions")).body.sessions;
    expect(new Set(own.map(({ account }: { account: string }) => account))).to.deep.equal(
      new Set(["vera"]),
    );
    const others = (await olga.call("GET", "/sessions")).body.sessions;
    const mine = others.find(({ current }: { current: boolean }) => current);
    expect(mine.account).to.equal("olga");
    expect((await vera.call("DELETE", `/sessions/${mine.id}`)).status).to.equal(404);
    const [newest] = own;
    expect((await olga.call("DELETE", `/sessions/${newest.id}`)).status).to.equal(204);
    expect((await phone.call("GET", "/session")).status).to.equal(401);
    expect((await vera.call("GET", "/session")).status).to.equal(200);
  });

  it("puts a change of a role in force with the next request", async () => {
    const { id } = await addOperator(country.db, "petr", "viewer");
    const petr = await signIn(edge.origin, "petr");
    expect((await petr.call("POST", "/partners", { name: "P" })).status).to.equal(403);
    await rows(country.db, "update operators set role = 'operator' where id = ?", [id]);
    expect((await petr.call("POST", "/partners", { name: "P" })).status).to.equal(201);
  });

  describe("the queues", () => {
    const paths = [
      ...["/", "/queue/marks", "/api/queues", "/static/favicon.ico"],
      "/api/redis/stats",
    ];
    const get = (client: ConsoleClient, path: string, init: RequestInit = {}) =>
      fetch(`${edge.origin}/console/queues${path}`, {
        ...init,
        headers: { Cookie: client.cookie, ...(init.headers as Record<string, string>) },
      });
    const statuses = async (client: ConsoleClient): Promise<number[]> => {
      const found: number[] = [];
      for (const path of paths) found.push((await get(client, path)).status);
      return found;
    };

    it("are shown to the role operator alone, files included", async () => {
      expect(await statuses(createConsoleClient(edge.origin))).to.deep.equal(paths.map(() => 401));
      expect(await statuses(vera)).to.deep.equal(paths.map(() => 403));
      expect(await statuses(olga)).to.deep.equal(paths.map(() => 200));
    });

    it("tell what waits", async () => {
      const { queues } = (await (await get(olga, "/api/queues")).json()) as {
        queues: { name: string }[];
      };
      expect(queues.map(({ name }) => name)).to.deep.equal([
        ...["marks", "snapshots", "upkeep", "webhooks", "alerts", "imports"],
      ]);
    });

    it("take changes of their own page alone, and write them down", async () => {
      const before = await logged();
      const pause = (site: string) =>
        get(olga, "/api/queues/upkeep/pause", {
          method: "PUT",
          headers: { "Sec-Fetch-Site": site },
        });
      expect((await pause("cross-site")).status).to.equal(403);
      expect((await pause("none")).status).to.equal(403);
      expect(await logged()).to.equal(before);
      expect((await pause("same-origin")).status).to.equal(200);
      const [entry] = (await olga.call("GET", "/log?action=queue.board")).body.entries;
      expect(entry).to.deep.include({ actor: "olga", subject: "queues/upkeep/pause" });
    });

    it("have a policy of their own, and no word of another host", async () => {
      const page = await get(olga, "/");
      const policy = page.headers.get("content-security-policy") ?? "";
      expect(policy).to.include("script-src 'self';").and.include("frame-ancestors 'none'");
      expect(page.headers.get("permissions-policy")).to.include("geolocation=()");
      expect(page.headers.get("cross-origin-opener-policy")).to.equal("same-origin");
      expect(await page.text()).not.to.match(/https?:\/\//);
    });

    it("have nothing else", async () => {
      for (const path of ["/nowhere", "/api/nowhere", "/static/../package.json", "/static/x.js"])
        expect((await get(olga, path)).status, path).to.equal(404);
    });
  });

  it("serves its page under a policy that lets no other host in", async () => {
    const page = await fetch(`${edge.origin}/console/`);
    expect(page.status).to.equal(200);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).to.include("default-src 'none'").and.include("frame-ancestors 'none'");
    expect(policy).not.to.match(/unsafe|http|\*/);
  });
});
