import { execFile } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { useFolder } from "#test/harness/use.ts";

const run = promisify(execFile);

const compiler = resolve("node_modules", "typescript", "bin", "tsc");

describe("the client's package", function () {
  const folder = useFolder();
  let installed: string;
  before(async () => {
    installed = join(folder.path, "node_modules", "@fuelmark", "client");
    await cp("client/package.json", join(installed, "package.json"));
    const args = [compiler, "-p", "client/tsconfig.json", "--outDir", join(installed, "dist")];
    await run(process.execPath, args);
  });

  it("builds into something that plain Node runs, with all that it promises to hold", async () => {
    const { exports } = JSON.parse(await readFile("client/package.json", "utf8")) as {
      exports: Record<string, { types: string; default?: string }>;
    };
    for (const { types } of Object.values(exports)) await readFile(join(installed, types));
    const names = Object.entries(exports).filter(([, entry]) => entry.default !== undefined);
    const imports = names.map(([name]) => `import("@fuelmark/client${name.slice(1)}")`);
    const requires = names.map(([name]) => `require("@fuelmark/client${name.slice(1)}")`);
    const tell = "console.log(all.flatMap((one) => Object.keys(one)).sort().join());";
    for (const [kind, script] of [
      ["module", `const all = await Promise.all([${imports.join(",")}]); ${tell}`],
      ["commonjs", `const all = [${requires.join(",")}]; ${tell}`],
    ]) {
      const args = [`--input-type=${kind}`, "-e", script!];
      const { stdout } = await run(process.execPath, args, { cwd: folder.path });
      expect(stdout.trim(), kind).to.equal(
        "createClient,digestOf,errorOf,fileStore,isApiError,mirror,noAnswer,secondsOf,verifyWebhook",
      );
    }
  });

  it("carries types that the examples of its README compile against", async () => {
    const readme = await readFile("client/README.md", "utf8");
    const examples = [...readme.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code as string);
    expect(examples).to.have.length(3);
    const given = `declare const baseUrl: string, key: string, lat: number, lon: number;
      declare let etag: string | null;
      declare function show(...all: unknown[]): void;`;
    const hook = `declare const secrets: string[], rawBody: Uint8Array;
      declare const request: { headers: Record<string, string | string[] | undefined> };
      declare function answer(status: number): void;
      declare function show(...all: unknown[]): void;`;
    const wrong = `// @ts-expect-error: types that say nothing would let this pass.
      const status: number = stations[0]!.fuel.status;
      void [isApiError, status];`;
    const [copy = "", calls = "", verify = ""] = examples;
    await writeFile(join(folder.path, "package.json"), '{"type":"module"}');
    await writeFile(join(folder.path, "copy.ts"), copy);
    await writeFile(join(folder.path, "calls.ts"), `${given}\n${calls}\n${wrong}`);
    await writeFile(join(folder.path, "hook.ts"), `${hook}\n${verify}`);
    await writeFile(
      join(folder.path, "common.cts"),
      `import client = require("@fuelmark/client");
      const api = client.createClient({ baseUrl: "", key: "" });
      // @ts-expect-error: a count is a number.
      const count: Promise<string> = api.cities({}).then((found) => found.count);
      void count;`,
    );
    const typeRoots = resolve("node_modules", "@types");
    const options = "--noEmit --strict --target es2022 --module nodenext --types node --typeRoots";
    const files = ["copy.ts", "calls.ts", "hook.ts", "common.cts"];
    const args = [compiler, ...options.split(" "), typeRoots, ...files];
    const told = await run(process.execPath, args, { cwd: folder.path }).catch(
      (error: { stdout: string }) => error,
    );
    expect(told.stdout).to.equal("");
  });
});
