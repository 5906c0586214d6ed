import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { expect } from "chai";

const run = promisify(execFile);

describe("the client's package", () => {
  it("builds into something that plain Node runs, with all that it promises to hold", async function () {
    this.timeout(60_000);
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-client-"));
    try {
      const installed = join(folder, "node_modules", "@fuelmark", "client");
      await cp("client/package.json", join(installed, "package.json"));
      const compiler = resolve("node_modules", "typescript", "bin", "tsc");
      const args = [compiler, "-p", "client/tsconfig.json", "--outDir", join(installed, "dist")];
      await run(process.execPath, args);
      const { exports } = JSON.parse(await readFile("client/package.json", "utf8")) as {
        exports: Record<string, { types: string; default?: string }>;
      };
      for (const { types } of Object.values(exports)) await readFile(join(installed, types));
      const names = Object.entries(exports).filter(([, entry]) => entry.default !== undefined);
      const imports = names.map(([name]) => `import("@fuelmark/client${name.slice(1)}")`);
      const script = `const all = await Promise.all([${imports.join(",")}]);
        console.log(all.flatMap((one) => Object.keys(one)).sort().join());`;
      const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
        cwd: folder,
      });
      expect(stdout.trim()).to.equal(
        "createClient,errorOf,fileStore,isApiError,mirror,noAnswer,secondsOf",
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
