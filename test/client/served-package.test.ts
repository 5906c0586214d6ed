import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { useStage } from "#test/flow/stage.ts";
import { useEdgeOn } from "#test/api/edge.ts";

const run = promisify(execFile);

/** What a partner's program does first. */
const program = `
  import { createClient } from "@fuelmark/client";
  import { mirror } from "@fuelmark/client/mirror";
  const [baseUrl, key] = process.argv.slice(2);
  const { stations } = await createClient({ baseUrl, key }).stations({ bbox: [-90, -180, 90, 180] });
  const copy = mirror({ baseUrl, key });
  await copy.ready();
  console.log(stations.length, copy.stations.size);
  await copy.stop();
`;

describe("the client's package as the service gives it (decisions 17.7)", function () {
  const { instance, country } = useStage(3, [], { LOG_LEVEL: "silent" });
  const edge = useEdgeOn(instance);
  const folders: string[] = [];

  after(async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  /** A fresh project, with an empty cache of packages and a registry that nobody runs. */
  const install = async (what: string | Buffer, ...options: string[]): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-partner-"));
    folders.push(folder);
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    await writeFile(join(folder, "program.js"), program);
    if (Buffer.isBuffer(what)) await writeFile(join(folder, "client.tgz"), what);
    const from = Buffer.isBuffer(what) ? "./client.tgz" : what;
    const plain = ["--no-audit", "--no-fund", "--cache", join(folder, "cache")];
    const nobody = ["--registry", "http://127.0.0.1:1", "--fetch-retries", "0"];
    const path = process.env["npm_execpath"];
    const [command, first] = path?.endsWith(".js") ? [process.execPath, [path]] : ["npm", []];
    await run(command, [...first, "install", ...options, ...plain, ...nobody, from], {
      cwd: folder,
    });
    return folder;
  };
  const runIn = async (folder: string): Promise<string> => {
    const args = ["program.js", edge.origin, country.secret];
    return (await run(process.execPath, args, { cwd: folder })).stdout.trim();
  };

  it("is installed by its address into an empty project, and works", async () => {
    const folder = await install(`${edge.origin}/client.tgz`);
    expect(await runIn(folder)).to.equal("3 3");
  });

  it("is installed offline from its file, because it needs nothing else", async () => {
    const file = Buffer.from(await (await fetch(`${edge.origin}/client.tgz`)).arrayBuffer());
    const folder = await install(file, "--offline");
    expect(await runIn(folder)).to.equal("3 3");
  });

  it("is a file that caches know again, and nothing that is unpacked on the way", async () => {
    const whole = await fetch(`${edge.origin}/client.tgz`);
    expect(whole.headers.get("content-type")).to.equal("application/gzip");
    expect(whole.headers.get("content-encoding")).to.equal(null);
    expect(whole.headers.get("cache-control")).to.equal("public, no-cache");
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect([...bytes.subarray(0, 2)]).to.deep.equal([0x1f, 0x8b]);
    expect(whole.headers.get("content-length")).to.equal(String(bytes.length));
    const etag = whole.headers.get("etag")!;
    expect(etag).to.match(/^"[\w-]{22}"$/);
    const again = await fetch(whole.url, { headers: { "If-None-Match": etag } });
    expect(again.status).to.equal(304);
    const head = await fetch(whole.url, { method: "HEAD" });
    expect([head.status, head.headers.get("etag"), await head.text()]).to.deep.equal([
      200,
      etag,
      "",
    ]);
  });
});
