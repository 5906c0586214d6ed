import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { axeFaults, fitsWidth, useBrowser, openPage } from "#test/harness/browser.ts";

describe("browser: the harness itself", () => {
  let server: Server | undefined;
  let port: number;
  useBrowser();
  before(async () => {
    server = createServer((_, response) => {
      response.setHeader(
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'",
      );
      response.setHeader("Content-Type", "text/html");
      response.end('<img src="x.png"><p style="width:2000px">wide</p>');
    });
    const listening = server.listen(0, "127.0.0.1");
    await once(listening, "listening");
    port = (listening.address() as AddressInfo).port;
  });
  after(() => void server?.close());

  it("opens pages under made-up host names, and sees their faults", async () => {
    const { page, requests, close } = await openPage({ width: 320 });
    await page.goto(`http://shop.test:${port}/`);
    const faults = await axeFaults(page);
    expect(faults.join("\n")).to.include("image-alt");
    expect(await fitsWidth(page)).to.equal(false);
    expect(requests[0]).to.equal(`http://shop.test:${port}/`);
    await close();
  });

  it("draws with WebGL without a graphics card", async () => {
    const { page, close } = await openPage();
    const made = await page.evaluate<boolean>(
      "document.createElement('canvas').getContext('webgl2') !== null",
    );
    expect(made).to.equal(true);
    await close();
  });
});
