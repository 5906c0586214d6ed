import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { type Config, loadConfig } from "#src/infrastructure/config.ts";
import { createReceivers } from "#src/pushes/receivers.ts";
import { file, type SourceServer, startSourceServer } from "#test/harness/source-server.ts";
import { fetchFile } from "#workers/imports/fetch.ts";
import { copyNewest } from "#workers/imports/run.ts";
import { removeLeftFolders, withTemporaryFolder } from "#workers/imports/temporary.ts";

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const never = new AbortController().signal;

describe("worker: the files of a feed", function () {
  let server: SourceServer;
  let folder: string;
  let to: string;

  before(async () => {
    server = await startSourceServer();
    folder = await mkdtemp(join(tmpdir(), "fuelmark-test-"));
    to = join(folder, "fetched");
  });
  after(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    server.asked.splice(0);
    server.answers.clear();
  });

  const settings = { FEED_HTTP: "true", FEED_NETWORKS: "127.0.0.1" };
  const fetched = (
    path: string,
    { config = {}, before = null, stop = never }: Partial<Wish> = {},
  ): Promise<unknown> => {
    const known: Config = { ...loadConfig(settings), ...config };
    const { feedNetworks: webhookNetworks, feedHttp: webhookHttp } = known;
    const receivers = createReceivers({ webhookNetworks, webhookHttp }, async () => ["10.0.0.1"]);
    const url = path.startsWith("/") ? `${server.origin}${path}` : path;
    return fetchFile(receivers, known, url, { to, before, stop, onBytes: () => {} });
  };
  interface Wish {
    config: Partial<Config>;
    before: { etag: string | null; modified: string | null; hash: string } | null;
    stop: AbortSignal;
  }
  it("end with a sentence when the server switches to a protocol that nobody asked for", async () => {
    server.answers.set("/switch", (response) => {
      response.socket!.end(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      );
    });
    expect(await faultOf(fetched("/switch"))).to.include("ended without an answer");
  });

  /** The sentence with which it is refused. */
  const faultOf = (fetching: Promise<unknown>): Promise<string> =>
    fetching.then(
      (given) => `not refused: ${JSON.stringify(given)}`,
      (error: Error) => error.message,
    );

  it("are stored with their marks, and asked for by these the next time", async () => {
    const headers = { ETag: '"1"', "Last-Modified": "Thu, 26 Nov 2026 00:00:00 GMT" };
    server.answers.set("/a.csv", file("a;b\n", headers));
    const seen = { etag: '"1"', modified: headers["Last-Modified"], hash: hashOf("a;b\n") };
    expect(await fetched("/a.csv")).to.deep.equal(seen);
    expect(await readFile(to, "utf8")).to.equal("a;b\n");
    expect(await fetched("/a.csv", { before: seen })).to.equal(null);
    expect(server.asked[1]!.headers).to.include({
      ...{ "if-none-match": '"1"', "if-modified-since": headers["Last-Modified"] },
    });
  });

  it("are unpacked where the server packs them, and measured as they are stored", async () => {
    const zeros = "0".repeat(5_000_000);
    server.answers.set("/a", file(gzipSync(zeros), { "Content-Encoding": "gzip" }));
    expect(await fetched("/a")).to.include({ etag: null, hash: hashOf(zeros) });
    const fault = await faultOf(fetched("/a", { config: { feedBytes: 1_000_000 } }));
    expect(fault).to.include("more than FEED_BYTES (1000000)");
  });

  it("are not taken without end", async () => {
    server.answers.set("/a", (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write("0".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    const fault = await faultOf(fetched("/a", { config: { feedBytes: 1_000_000 } }));
    expect(fault).to.include("more than FEED_BYTES");
  });

  it("are given up when the server says nothing, before and after it has begun", async () => {
    server.answers.set("/never", () => {});
    server.answers.set("/stuck", (response) => void response.writeHead(200).write("begun"));
    for (const path of ["/never", "/stuck"]) {
      const fault = await faultOf(fetched(path, { config: { feedSilenceMs: 200 } }));
      expect(fault, path).to.include("sent nothing for FEED_SILENCE_MS (200 ms)");
    }
  });

  it("are given up when they drip, also in their headers, packed, or after a redirect, with the speed", async () => {
    const dripping =
      (begin: (response: ServerResponse) => void, piece: string | Buffer) =>
      (response: ServerResponse): void => {
        begin(response);
        const drip = (): void => void (response.socket?.writable && response.socket.write(piece));
        const timer = setInterval(drip, 20);
        response.on("close", () => clearInterval(timer));
      };
    const raw = (text: string) => (response: ServerResponse) => void response.socket!.write(text);
    const ok = "HTTP/1.1 200 OK\r\n";
    const drips: Record<string, ReturnType<typeof dripping>> = {
      "/body": dripping(raw(`${ok}Content-Length: 1000000\r\n\r\n`), "0"),
      "/chunks": dripping(raw(`${ok}Transfer-Encoding: chunked\r\n\r\n`), "1;a=bcdefgh\r\n0\r\n"),
      "/head": dripping(raw(ok), "X-A: 1\r\n"),
      "/interim": dripping(() => undefined, "HTTP/1.1 103 Early Hints\r\n\r\n"),
      "/packed": dripping(raw(`${ok}Content-Encoding: gzip\r\n\r\n`), gzipSync("0123456789")),
    };
    for (const [path, drip] of Object.entries(drips)) server.answers.set(path, drip);
    server.answers.set(
      "/moved",
      (response) => void response.writeHead(302, { Location: "/body" }).end(),
    );
    for (const path of [...Object.keys(drips), "/moved"]) {
      const fault = await faultOf(fetched(path, { config: { feedSilenceMs: 600 } }));
      expect(fault, path).to.match(
        /^http.* sent (nothing for|\d{1,3} bytes in) FEED_SILENCE_MS \(600 ms\), where 1000 a second are the least: take/,
      );
      expect(/sent \d/.test(fault), path).to.equal(!/head|interim/.test(path));
    }
  });

  it("come from a slow server too, also while this process stands still", async () => {
    // 2 kB a second, for ten times as long as nothing may come.
    const slowly = (response: ServerResponse): void => {
      let left = 50;
      const timer = setInterval(() => {
        response.write("0".repeat(100));
        if ((left -= 1) > 0) return;
        clearInterval(timer);
        response.end();
      }, 50);
    };
    server.answers.set("/slow", slowly);
    const config = { feedSilenceMs: 250 };
    expect(await fetched("/slow", { config })).to.include({ hash: hashOf("0".repeat(5000)) });
    const fetching = fetched("/slow", { config });
    await new Promise((resolve) => setTimeout(resolve, 400));
    for (const end = performance.now() + 800; performance.now() < end;);
    expect(await fetching).to.include({ hash: hashOf("0".repeat(5000)) });
  });

  it("are given up when they take too long, though something comes all the time", async () => {
    server.answers.set("/slow", (response) => {
      const timer = setInterval(() => response.write("0"), 20);
      response.on("close", () => clearInterval(timer));
    });
    const fault = await faultOf(fetched("/slow", { config: { feedTimeoutMs: 500 } }));
    expect(fault).to.include("took longer than FEED_TIMEOUT_MS (500 ms)");
  });

  it("are given up when the process stops", async () => {
    server.answers.set("/never", () => {});
    const stop = new AbortController();
    const fetching = faultOf(fetched("/never", { stop: stop.signal }));
    stop.abort();
    expect(await fetching).to.include("aborted");
  });

  it("are no half files: one that breaks off is refused", async () => {
    server.answers.set("/half", (response) => {
      response.writeHead(200, { "Content-Length": "1000" });
      response.write("begun", () => response.destroy());
    });
    expect(await faultOf(fetched("/half"))).to.not.include("not refused");
  });

  it("come with status 200 alone", async () => {
    server.answers.set("/a", (response) => void response.writeHead(500).end("broken"));
    server.answers.set("/b", (response) => void response.writeHead(304).end());
    expect(await faultOf(fetched("/a"))).to.include("/a answered 500");
    // Nobody has asked for anything newer.
    expect(await faultOf(fetched("/b"))).to.include("/b answered 304");
    expect(await faultOf(fetched("/c"))).to.include("/c answered 404");
  });

  it("may lie elsewhere, in a public network or an allowed one, five steps away at most", async () => {
    const to = (url: string) => (response: ServerResponse) =>
      void response.writeHead(302, { Location: url }).end();
    server.answers.set("/moved", to("/a"));
    server.answers.set("/a", file("a"));
    expect(await fetched("/moved")).to.include({ hash: hashOf("a") });
    for (const url of ["http://127.0.0.2:1/a", "http://[::1]:1/a", "http://inside.example/a"]) {
      server.answers.set("/away", to(url));
      expect(await faultOf(fetched("/away")), url).to.include("private network");
    }
    server.answers.set("/away", to("file:///etc/passwd"));
    expect(await faultOf(fetched("/away"))).to.include("should be absolute and begin with");
    server.answers.set("/round", to("/round"));
    expect(await faultOf(fetched("/round"))).to.include("redirected more than 5 times");
  });

  it("come by https from public addresses only, where nothing else is allowed", async () => {
    server.answers.set("/a", file("a"));
    const { origin } = server;
    expect(await faultOf(fetched("/a", { config: { feedHttp: false } }))).to.include("https://");
    const closed = { config: { feedNetworks: [] } };
    expect(await faultOf(fetched("/a", closed))).to.include("private network");
    expect(origin).to.include("127.0.0.1");
    expect(server.asked).to.deep.equal([]);
  });

  describe("of a folder", () => {
    let config: Config;
    before(async () => {
      await mkdir(join(folder, "feeds", "it"), { recursive: true });
      config = loadConfig({ FEEDS_FOLDER: join(folder, "feeds") });
    });
    const put = async (name: string, text: string, at: number): Promise<void> => {
      await writeFile(join(folder, "feeds", "it", name), text);
      await utimes(join(folder, "feeds", "it", name), at, at);
    };
    const copied = (path: string, before: Wish["before"] = null, of = config) =>
      copyNewest(of, path, { to, before, stop: never, onBytes: () => {} });

    it("are the newest that fit, and nothing while name, size and time are the same", async () => {
      await put("anagrafica-1.csv", "one", 1_700_000_000);
      await put("anagrafica-2.csv", "two", 1_700_000_100);
      await put("other.csv", "other", 1_700_000_200);
      const seen = await copied("it/anagrafica*.csv");
      expect(seen).to.include({ hash: hashOf("two") });
      expect(await readFile(to, "utf8")).to.equal("two");
      expect(await copied("it/anagrafica*.csv", seen)).to.equal(null);
      await put("anagrafica-2.csv", "too", 1_700_000_300);
      expect(await copied("it/anagrafica*.csv", seen)).to.include({ hash: hashOf("too") });
    });

    it("are refused where there are none, outside of the folder, and too large", async () => {
      expect(await faultOf(copied("it/nothing*.csv"))).to.include("no file of this name");
      expect(await faultOf(copied("es/a.csv"))).to.include("no such folder");
      await symlink(tmpdir(), join(folder, "feeds", "out"));
      expect(await faultOf(copied("out/*"))).to.include("no such folder below FEEDS_FOLDER");
      expect(await faultOf(copied("a.csv", null, loadConfig({})))).to.include("is not set");
      const small = { ...config, feedBytes: 2 };
      expect(await faultOf(copied("it/other.csv", null, small))).to.include("FEED_BYTES");
    });
  });

  it("lie in a folder that is removed, also after its process has died", async () => {
    const kept = await withTemporaryFolder(async (own) => {
      const left = join(tmpdir(), `fuelmark-feed-${deadPid}-x`);
      await mkdir(left, { recursive: true });
      await removeLeftFolders();
      expect([existsSync(own), existsSync(left)]).to.deep.equal([true, false]);
      return own;
    });
    expect(existsSync(kept)).to.equal(false);
  });
});

/** Above the highest number that Linux gives. */
const deadPid = 4_194_305;
