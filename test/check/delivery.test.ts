import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { validate } from "dockerfile-utils";
import { Redis } from "ioredis";
import { parse } from "yaml";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import { findRedis } from "#demo/servers/redis-binaries.ts";
import { settings } from "#src/infrastructure/config.ts";
import { hold } from "#test/harness/leaks.ts";
import { provided } from "#test/harness/provided.ts";

interface Service {
  image?: string;
  build?: string;
  command?: string | string[];
  user?: string;
  cap_drop?: string[];
  security_opt?: string[];
  env_file?: string;
  restart?: string;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { disable?: boolean; test?: string[] };
  ports?: string[];
}

const roles = readProcfile();
const read = (path: string): string => readFileSync(path, "utf8");

describe("the bundle", () => {
  it("has no letter for which V8 would hold the text of a file at two bytes a letter", () => {
    const web = read("dist/programs/web.js");
    const chunks = [...web.matchAll(/from "\.\.\/(chunks\/[^"]+)"/g)].map(([, file]) => file!);
    expect(chunks).not.to.be.empty;
    const wide = ["programs/web.js", ...chunks].flatMap((file) =>
      [...read(`dist/${file}`).matchAll(/.*[^\0-\xff].*/g)].map(([line]) => `${file}: ${line}`),
    );
    // Left as they are in a template with a tag: there they belong into a string of its own.
    expect(wide).to.deep.equal([]);
  });
});

describe("Dockerfile", () => {
  const text = read("Dockerfile");
  const lines = text.replaceAll("\\\n", " ").split("\n");
  const stages = text.split(/^FROM /m).slice(1);

  it("has no fault that a linter finds", () => {
    expect(validate(text).map(({ message }) => message)).to.deep.equal([]);
    expect(validate("FROM node\nCMD a\nFOO").map(({ message }) => message)).to.not.be.empty;
  });

  it("makes one small image of several stages, which runs as an ordinary user", () => {
    expect(stages.length).to.be.above(2);
    const last = stages.at(-1) ?? "";
    expect(last).to.match(/^USER node$/m);
    expect(last).to.not.match(/^RUN /m);
    expect(last).to.match(/^HEALTHCHECK .*\n.*\/healthz/m);
  });

  it("takes along what the roles are made of, and nothing that is not there", () => {
    const copied = lines
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(copied.filter((path) => !existsSync(path))).to.deep.equal([]);
    const ignored = read(".dockerignore").split("\n");
    expect(copied.filter((path) => ignored.includes(path))).to.deep.equal([]);
    expect(text).to.include("COPY --from=built /app/dist ./dist\n");
    for (const command of roles.values())
      expect(command.find((word) => word.endsWith(".js"))).to.match(/^dist\//);
    const cmd = JSON.parse(/^CMD (\[.*\])$/m.exec(text)?.[1] ?? "null") as string[];
    expect(cmd).to.deep.equal(roles.get("web"));
  });
});

describe("compose.yaml", () => {
  const { services, volumes } = parse(read("compose.yaml"), { merge: true }) as {
    services: Record<string, Service>;
    volumes: Record<string, unknown>;
  };
  const service = (name: string): Service => {
    const found = services[name];
    if (found === undefined) throw new Error(`no service ${name}`);
    return found;
  };

  it("has a service for each line of the Procfile, of one image", () => {
    for (const [role, command] of roles) {
      expect(service(role).command, role).to.equal(command.join(" "));
      expect(service(role)).to.include({ image: "fuelmark", build: ".", env_file: "compose.env" });
    }
    expect(Object.keys(services)).to.have.members([...roles.keys(), "postgres", "redis"]);
    expect(Object.keys(volumes)).to.have.members(["postgres", "redis"]);
  });

  it("releases once, when the database is there, and then starts the others", () => {
    expect(service("release").restart).to.equal("no");
    expect(service("release").depends_on).to.deep.equal({
      postgres: { condition: "service_healthy" },
    });
    for (const role of [...roles.keys()].filter((one) => one !== "release")) {
      expect(service(role).depends_on, role).to.deep.equal({
        release: { condition: "service_completed_successfully" },
        postgres: { condition: "service_healthy" },
        redis: { condition: "service_healthy" },
      });
      expect(service(role).restart, role).to.equal("unless-stopped");
    }
  });

  it("asks for the health of what can tell", () => {
    for (const name of ["postgres", "redis"])
      expect(service(name).healthcheck?.test, name).to.not.be.empty;
    for (const role of roles.keys())
      expect(service(role).healthcheck?.disable ?? false, role).to.equal(role !== "web");
  });

  it("opens one port, to this machine only, and runs nothing as root", () => {
    const ports = Object.values(services).flatMap((one) => one.ports ?? []);
    expect(ports).to.deep.equal(["127.0.0.1:8080:8080"]);
    // The image of the roles has a user of its own.
    for (const name of ["postgres", "redis"]) expect(service(name).user, name).to.equal(name);
    for (const [name, one] of Object.entries(services))
      expect(one, name).to.deep.include({
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
  });

  it("starts a Redis that asks for its password, keeps what is in the queues, and hears a stop", async function () {
    const binary = await findRedis(join(provided("TEST_DATA"), "cache"), () => undefined);
    // Then the tests use one that runs elsewhere.
    if (binary === null) this.skip();
    const folder = mkdtempSync(join(tmpdir(), "fuelmark-compose-"));
    const port = await somePort();
    const [, , script = ""] = service("redis").command as string[];
    const changed = script
      .replaceAll("$$", "$")
      .replace(
        "redis-server -",
        `"${binary.file}" - --bind 127.0.0.1 --port ${port} --dir ${folder}`,
      );
    const start = (env: Record<string, string>) =>
      spawn("sh", ["-c", changed], {
        env: { ...process.env, ...binary.env, ...env },
        stdio: "ignore",
      });
    const [refused] = (await once(start({ REDIS_PASSWORD: "" }), "exit")) as [number];
    expect(refused).to.equal(1);
    const server = start({ REDIS_PASSWORD: "se-cret" });
    const letGo = hold("the Redis of compose.yaml", () => void server.kill("SIGKILL"));
    const exited = once(server, "exit");
    const redis = new Redis(port, "127.0.0.1", { password: "se-cret", maxRetriesPerRequest: null });
    // It may not listen yet.
    redis.on("error", () => undefined);
    expect(await redis.config("GET", "maxmemory-policy")).to.deep.equal([
      "maxmemory-policy",
      "noeviction",
    ]);
    expect(await redis.config("GET", "appendonly")).to.deep.equal(["appendonly", "yes"]);
    const stranger = new Redis(port, "127.0.0.1", { retryStrategy: () => null });
    stranger.on("error", () => undefined);
    const fault = await stranger.get("x").catch((error: Error) => error);
    expect(String(fault)).to.contain("NOAUTH");
    stranger.disconnect();
    redis.disconnect();
    server.kill("SIGTERM");
    expect(await exited).to.deep.equal([0, null]);
    letGo();
    rmSync(folder, { recursive: true, force: true });
  });

  it("has an example of its settings that names real ones only", () => {
    const names = [...read("compose.env.example").matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    const known = Object.values(settings).map(({ env }) => env as string);
    expect(names.filter((name) => !known.includes(name ?? ""))).to.deep.equal([
      ...["POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD", "REDIS_PASSWORD"],
    ]);
    for (const required of ["DATABASE_URL", "REDIS_URL", "REPORTER_PEPPER", "BASE_URL"])
      expect(names).to.include(required);
  });
});

describe("the systemd unit of the manual", () => {
  it("starts the line of the Procfile that it is named after", () => {
    const [, line = ""] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(read("docs/operations.md")) ?? [];
    const script = (instance: string): string =>
      line.replaceAll("%i", instance).replaceAll("%%", "%").replaceAll("$$", "$");
    for (const [role, command] of roles) {
      for (const instance of [role, `${role}-2`]) {
        // Said instead of done.
        const said = execFileSync("sh", ["-c", script(instance).replace('"exec ', '"echo ')]);
        expect(said.toString().trim(), instance).to.equal(command.join(" "));
      }
    }
  });
});
