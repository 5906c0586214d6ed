import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface Nginx {
  version: string;
  /** Master and worker. */
  pids: number[];
  stop(): Promise<void>;
}

/** nginx with one worker that serves `file` (gzip) at `url`; null when there is no nginx with gzip_static. */
export async function startNginx(
  folder: string,
  port: number,
  url: string,
  file: Buffer,
): Promise<Nginx | null> {
  const version = versionOf();
  if (version === null) return null;
  const root = join(folder, "nginx");
  const path = join(root, `${url}.gz`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, file);
  const config = join(root, "nginx.conf");
  writeFileSync(config, configOf(root, port));
  const child = spawn("nginx", ["-p", root, "-c", config, "-g", "daemon off;"], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const answers = await answering(`http://127.0.0.1:${port}${url}`, child);
  if (!answers) return null;
  return {
    version,
    pids: [child.pid!, ...childrenOf(child.pid!)],
    stop: async () => {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

function versionOf(): string | null {
  try {
    execFileSync("nginx", ["-v"], { stdio: "ignore" });
    const told = execFileSync("sh", ["-c", "nginx -V 2>&1"], { encoding: "utf8" });
    if (!told.includes("gzip_static")) return null;
    return /nginx\/([\d.]+)/.exec(told)?.[1] ?? "?";
  } catch {
    return null;
  }
}

// Started by root, its worker would be nobody, who may not read the folder.
const configOf = (root: string, port: number): string => `
${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
pid ${root}/pid;
error_log ${root}/error.log;
events { worker_connections 256; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000000;
  open_file_cache max=16;
  default_type application/json;
  server {
    listen 127.0.0.1:${port};
    root ${root};
    gzip_static on;
  }
}
`;

async function answering(url: string, child: ChildProcess): Promise<boolean> {
  let broken = false;
  child.once("error", () => (broken = true));
  for (let tries = 0; tries < 50 && child.exitCode === null && !broken; tries += 1) {
    const answer = await fetch(url, { headers: { "Accept-Encoding": "gzip" } }).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return true;
    await sleep(50);
  }
  child.kill("SIGTERM");
  return false;
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => readFileSync(`/proc/${name}/stat`, "latin1").includes(`) S ${pid} `))
      .map(Number);
  } catch {
    return [];
  }
}
