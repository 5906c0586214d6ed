import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "#demo/servers/command.ts";
import { somePort } from "#demo/servers/port.ts";
import { signalQuietly, spawnServer, type ServerProcess } from "#demo/servers/process.ts";
import { hold } from "#test/harness/leaks.ts";

/** A load balancer before two web processes, with the sample configuration of docs/deploy. */
export interface Proxy {
  baseUrl: string;
  /** Does what docs/operations.md says before a web process is stopped. */
  leave(index: number): Promise<void>;
  /** And when it is ready again: resolves when the proxy may send requests to it. */
  join(index: number): Promise<void>;
  /** What the proxy has written: its log. */
  log(): string;
  drop(): Promise<void>;
}

export type ProxyKind = "haproxy" | "nginx";

// Debian has them where only root's PATH leads.
const path = `${process.env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/sbin`;

/** Whether the program is installed. Tests install nothing. */
export const hasProxy = async (kind: ProxyKind): Promise<boolean> =>
  (await run("sh", ["-c", `command -v ${kind}`], { env: { PATH: path } })).ok;

/** Starts haproxy or nginx, as the sample says, before these two web processes (`http://127.0.0.1:PORT`). */
export const startProxy = (kind: ProxyKind, webs: readonly string[]): Promise<Proxy> =>
  kind === "haproxy" ? startHaproxy(webs) : startNginx(webs);

/** Replaces each of these texts of a sample. Throws when one is not in it. */
function substituted(file: string, replaced: Record<string, string>): string {
  let text = readFileSync(file, "utf8");
  for (const [from, to] of Object.entries(replaced)) {
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

const addresses = (webs: readonly string[]): Record<string, string> => ({
  "127.0.0.1:8080": new URL(webs[0]!).host,
  "127.0.0.1:8081": new URL(webs[1]!).host,
});

async function startHaproxy(webs: readonly string[]): Promise<Proxy> {
  const [port, statusPort] = [await somePort(), await somePort()];
  const config = substituted("docs/deploy/haproxy.cfg", {
    ...addresses(webs),
    "bind :80\n": `bind 127.0.0.1:${port}\n`,
    "127.0.0.1:8404": `127.0.0.1:${statusPort}`,
  });
  /** What the status page says of a server of `reads`: UP, DOWN, … */
  const stateOf = async (index: number): Promise<string> => {
    const text = await fetch(`http://127.0.0.1:${statusPort}/;csv`).then((page) => page.text());
    const [head = "", ...lines] = text.split("\n").map((line) => line.split(","));
    const found = lines.find(([pool, name]) => pool === "reads" && name === `web${index + 1}`);
    return found?.[head.indexOf("status")] ?? "";
  };
  const isUp = async (index: number): Promise<void> => {
    const state = () => stateOf(index).catch(() => "");
    for (const end = Date.now() + 60_000; (await state()) !== "UP"; await sleep(100))
      if (Date.now() > end) throw new Error(`haproxy does not find web${index + 1} up`);
  };
  return started("haproxy", port, {
    args: (folder) => ["-db", "-f", join(folder, "haproxy.cfg")],
    files: () => ({ "haproxy.cfg": config }),
    ready: async () => {
      await isUp(0);
      await isUp(1);
    },
    // It learns by /readyz that a process stops.
    leave: () => Promise.resolve(),
    join: isUp,
  });
}

async function startNginx(webs: readonly string[]): Promise<Proxy> {
  const port = await somePort();
  let marker = "";
  return started("nginx", port, {
    args: (folder) => ["-p", folder, "-c", "main.conf"],
    files: (folder) => {
      marker = join(folder, "run", "without-");
      // What Debian's /etc/nginx/nginx.conf has around conf.d.
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((what) => `${what}_temp_path ${join(folder, "run", what)};`)
        .join("\n");
      return {
        "main.conf": `${process.getuid?.() === 0 ? "user root;\n" : ""}daemon off;
pid ${join(folder, "run", "nginx.pid")};
error_log stderr notice;
events {}
http {
  access_log off;
  ${temporary}
  include ${join(folder, "fuelmark.conf")};
}
`,
        "fuelmark.conf": substituted("docs/deploy/nginx.conf", {
          ...addresses(webs),
          "listen 80;": `listen 127.0.0.1:${port};`,
          "/run/fuelmark/without-": marker,
        }),
      };
    },
    ready: async (baseUrl) => {
      const answers = () => fetch(`${baseUrl}/readyz`).then(({ ok }) => ok);
      for (const end = Date.now() + 60_000; !(await answers().catch(() => false)); await sleep(50))
        if (Date.now() > end) throw new Error("nginx does not answer");
    },
    leave: async (index) => writeFileSync(marker + "ab"[index]!, ""),
    join: async (index) => rmSync(marker + "ab"[index]!),
  });
}

async function started(
  kind: ProxyKind,
  port: number,
  how: Pick<Proxy, "leave" | "join"> & {
    args(folder: string): string[];
    files(folder: string): Record<string, string>;
    ready(baseUrl: string): Promise<void>;
  },
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), `fuelmark-${kind}-`));
  mkdirSync(join(folder, "run"));
  for (const [name, text] of Object.entries(how.files(folder)))
    writeFileSync(join(folder, name), text);
  const logFile = join(folder, "log");
  const log = (): string => readFileSync(logFile, "utf8");
  const server: ServerProcess = spawnServer(kind, how.args(folder), {
    env: { PATH: path },
    cwd: folder,
    logFile,
  });
  const drop = async (): Promise<void> => {
    // The children of either go with it.
    signalQuietly(server.pid, "SIGTERM");
    await server.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const letGo = hold(`${kind} ${server.pid}`, drop);
  const baseUrl = `http://127.0.0.1:${port}`;
  const exited = server.exited.then(() => {
    throw new Error(`${kind} has ended:\n${log()}`);
  });
  // Later it ends because it is dropped.
  exited.catch(() => undefined);
  try {
    await Promise.race([how.ready(baseUrl), exited]);
  } catch (error) {
    letGo();
    await drop();
    throw error;
  }
  return {
    baseUrl,
    leave: how.leave,
    join: how.join,
    log,
    drop: async () => {
      letGo();
      await drop();
    },
  };
}
