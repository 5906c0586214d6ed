import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { verifyWebhook } from "#client/webhook.ts";
import { newWebhookSecret, sign } from "#src/pushes/webhooks/signature.ts";
import { codeBlocks } from "#test/harness/documents.ts";

const now = Date.UTC(2026, 0, 31, 18, 5);
const event = { type: "webhook.test", timestamp: "2026-01-31T18:05:00.000Z", data: {} };

/** A request as the service signs it, with several secrets during a rotation. */
function signed(secrets: string[], raw = JSON.stringify(event), at = now) {
  const [id, timestamp] = ["msg_1", String(Math.floor(at / 1000))];
  const signature = secrets.map((secret) => sign(secret, id, timestamp, raw)).join(" ");
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signature,
  };
  return { headers, raw };
}

describe("the client's check of webhooks", () => {
  const [old, fresh, foreign] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];

  it("knows the example of Standard Webhooks", () => {
    const raw = '{"test": 2432232314}';
    const headers = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const verified = verifyWebhook(secret, headers, raw, { now: 1614265330_000 });
    expect(verified).to.deep.equal({ id: headers["webhook-id"], event: JSON.parse(raw) });
  });

  it("takes either secret during a rotation, and headers and bodies of every kind", () => {
    const { headers, raw } = signed([fresh, old]);
    for (const secrets of [fresh, old, [old, fresh], [foreign, old]])
      for (const given of [
        headers,
        new Headers(headers),
        Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
        ),
      ])
        for (const body of [raw, Buffer.from(raw), new TextEncoder().encode(raw)])
          expect(verifyWebhook(secrets, given, body, { now })).to.deep.equal({
            id: "msg_1",
            event,
          });
    expect(verifyWebhook([foreign], headers, raw, { now })).to.equal(null);
    expect(verifyWebhook([], headers, raw, { now })).to.equal(null);
  });

  it("refuses what is older or newer than five minutes", () => {
    for (const [offS, isTaken] of [
      [300, true],
      [-300, true],
      [301, false],
      [-301, false],
    ] as const) {
      const { headers, raw } = signed([fresh], undefined, now + offS * 1000);
      expect(verifyWebhook(fresh, headers, raw, { now }) !== null, `${offS} s`).to.equal(isTaken);
    }
    const { headers, raw } = signed([fresh], undefined, now - 60_000);
    expect(verifyWebhook(fresh, headers, raw, { now, toleranceS: 59 })).to.equal(null);
    // Without a time of its own it takes that of the machine.
    expect(verifyWebhook(fresh, headers, raw)).to.equal(null);
    const { headers: present } = signed([fresh], raw, Date.now());
    expect(verifyWebhook(fresh, present, raw)?.event).to.deep.equal(event);
  });

  it("refuses every change of the body, the id and the time, and what is missing or twice", () => {
    const { headers, raw } = signed([fresh]);
    const refused = (change: object, body = raw): void => {
      expect(verifyWebhook(fresh, { ...headers, ...change }, body, { now })).to.equal(null);
    };
    refused({}, `${raw} `);
    refused({}, "");
    refused({ "webhook-id": "msg_2" });
    refused({ "webhook-timestamp": String(now / 1000 + 1) });
    refused({ "webhook-timestamp": `${headers["webhook-timestamp"]}.0` });
    refused({ "webhook-timestamp": "now" });
    const [, mac] = headers["webhook-signature"].split(",");
    for (const signature of ["", "v1", "v1,", `v2,${mac}`, mac, `v1,${mac!.slice(4)}`, "v1,!"])
      refused({ "webhook-signature": signature });
    for (const name of Object.keys(headers)) {
      refused({ [name]: undefined });
      refused({ [name]: [headers["webhook-id"], "b"] });
    }
  });

  it("takes no secret that anybody could guess", () => {
    const { headers, raw } = signed(["whsec_"]);
    for (const secret of ["", "whsec_", "whsec_A", "whsec_AAAA", fresh.slice(6), `${fresh}\n`])
      expect(() => verifyWebhook(secret, headers, raw, { now }), secret).to.throw("whsec_");
  });

  describe("in the server of the guide", () => {
    let folder: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "fuelmark-hook-"));
    });
    after(() => rm(folder, { recursive: true, force: true }));

    it("lets in what the service has signed, and answers 401 to the rest", async () => {
      const guide = codeBlocks(await readFile("docs/partners.md", "utf8"));
      const block = guide.find(({ text }) => text.includes("verifyWebhook"))!;
      const installed = join(folder, "node_modules", "@fuelmark", "client");
      await mkdir(installed, { recursive: true });
      const packed = resolve("dist", "client.tgz");
      execFileSync("tar", ["-xzf", packed, "--strip-components=1", "-C", installed]);
      await writeFile(join(folder, "package.json"), '{"type":"module"}');
      await writeFile(join(folder, "hook.ts"), block.text);
      process.env["WEBHOOK_SECRETS"] = `${fresh} ${old}`;
      const { hook } = (await import(pathToFileURL(join(folder, "hook.ts")).href)) as {
        hook: RequestListener;
      };
      delete process.env["WEBHOOK_SECRETS"];
      const server = createServer(hook);
      await once(server.listen(0, "127.0.0.1"), "listening");
      const { port } = server.address() as AddressInfo;
      const post = async ({ headers, raw }: ReturnType<typeof signed>): Promise<number> =>
        (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: raw })).status;
      try {
        for (const secret of [old, fresh])
          expect(await post(signed([secret], undefined, Date.now()))).to.equal(204);
        expect(await post(signed([foreign], undefined, Date.now()))).to.equal(401);
        expect(await post(signed([fresh], undefined, Date.now() - 301_000))).to.equal(401);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  });
});
