import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";

// A small project with the real configuration and one wrong import a file: the fence must bite on each.
const restricted = "no-restricted-imports";
const refused: Record<string, { code: string; rule: string }> = {
  ...wrongImports("src/domain", [
    "#src/infrastructure/db.ts",
    "node:fs",
    "pg",
    "#api/a.ts",
    "#snapshots/a.ts",
  ]),
  ...wrongImports("src/contract", ["#src/infrastructure/db.ts", "node:fs", "#src/keys/a.ts"]),
  ...wrongImports("src", [
    "#snapshots/a.ts",
    "#api/a.ts",
    "#workers/a.ts",
    "#cli/a.ts",
    "#demo/a.ts",
  ]),
  ...wrongImports("snapshots", ["#api/a.ts", "#workers/a.ts", "#cli/a.ts", "#test/a.ts"]),
  ...wrongImports("api", ["#workers/a.ts", "#cli/a.ts", "#demo/a.ts", "../workers/a.ts"]),
  ...wrongImports("workers", ["#api/a.ts", "#cli/a.ts", "#demo/a.ts", "./../api/a.ts"]),
  ...wrongImports("cli", ["#api/a.ts", "#workers/a.ts", "#demo/a.ts", "#test/a.ts"]),
  ...wrongImports("client", [
    "#src/domain/a.ts",
    "#api/a.ts",
    "#client/a.ts",
    "koa",
    "../src/a.ts",
  ]),
  ...wrongImports("demo", ["#test/a.ts"]),
  ...wrongImports("web", [
    "#src/infrastructure/db.ts",
    "#api/a.ts",
    "#snapshots/a.ts",
    "#demo/a.ts",
    "./a.ts",
  ]),
  ...wrongImports("migrations", ["#api/a.ts", "#workers/a.ts", "#snapshots/a.ts"]),
  "api/again.ts": { code: 'export { a } from "#workers/a.ts";', rule: restricted },
  "api/type.ts": { code: 'export type { A } from "#workers/a.ts";', rule: restricted },
  ...impure("src/domain/rule", [
    ["Date.now()", "no-restricted-globals"],
    ["new Date()", "no-restricted-globals"],
    ["Math.random()", "no-restricted-properties"],
    ["process.env", "no-restricted-globals"],
    ["performance.now()", "no-restricted-globals"],
    ["crypto.randomUUID()", "no-restricted-globals"],
    ['fetch("http://localhost")', "no-restricted-globals"],
    ["setTimeout(() => 1, 1)", "no-restricted-globals"],
  ]),
  "src/domain/time.ts": {
    code: "export const value = Date.now();",
    rule: "no-restricted-properties",
  },
};

const allowed: Record<string, string> = {
  "src/domain/good.ts": 'export { a } from "#src/domain/a.ts";\nexport { Type } from "typebox";',
  "src/good.ts": 'export { a } from "#src/domain/a.ts";\nexport { readFile } from "node:fs";',
  "snapshots/good.ts": 'export { a } from "#src/a.ts";',
  "api/good.ts": 'export { a } from "#snapshots/a.ts";\nexport { b } from "#src/a.ts";',
  "workers/good.ts": 'export { a } from "#snapshots/a.ts";\nexport { b } from "#src/a.ts";',
  "client/good.ts": 'export { a } from "./a.ts";\nexport { readFile } from "node:fs";',
  "demo/good.ts": 'export { a } from "#workers/a.ts";',
  "web/good.ts": 'export { a } from "#src/domain/a.ts";\nexport { b } from "#web/kit/b.ts";',
};

describe("the import fence", () => {
  let complaints: Map<string, string[]>;
  before(async function () {
    complaints = await lint({
      ...Object.fromEntries(Object.entries(refused).map(([file, { code }]) => [file, code])),
      ...allowed,
    });
  });

  for (const [file, { code, rule }] of Object.entries(refused)) {
    it(`refuses ${code} in ${dirname(file)}`, () => {
      expect(complaints.get(file) ?? []).to.include(`eslint(${rule})`);
    });
  }

  for (const file of Object.keys(allowed)) {
    it(`lets ${dirname(file)} import what is below it`, () => {
      expect(complaints.get(file) ?? []).to.deep.equal([]);
    });
  }
});

function wrongImports(folder: string, sources: readonly string[]) {
  return Object.fromEntries(
    sources.map((source, index) => [
      `${folder}/wrong-${index}.ts`,
      { code: `export { a } from "${source}";`, rule: restricted },
    ]),
  );
}

function impure(path: string, expressions: readonly (readonly [string, string])[]) {
  return Object.fromEntries(
    expressions.map(([expression, rule], index) => [
      `${path}-${index}.ts`,
      { code: `export const value = ${expression};`, rule },
    ]),
  );
}

/** Runs oxlint with the project's configuration over these files; answers the rules each one broke. */
async function lint(files: Record<string, string>): Promise<Map<string, string[]>> {
  const folder = await mkdtemp(join(tmpdir(), "fuelmark-fence-"));
  try {
    // Without types, which such a project has not got.
    const config = JSON.parse(await readFile(".oxlintrc.json", "utf8")) as { options?: object };
    delete config.options;
    await writeFile(join(folder, ".oxlintrc.json"), JSON.stringify(config));
    for (const [file, code] of Object.entries(files)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), `${code}\n`);
    }
    const report = await oxlint(folder);
    const { diagnostics } = JSON.parse(report) as {
      diagnostics: { code: string; filename: string }[];
    };
    const found = new Map<string, string[]>();
    for (const { code, filename } of diagnostics) {
      found.set(filename, [...(found.get(filename) ?? []), code]);
    }
    return found;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const oxlint = (cwd: string): Promise<string> =>
  new Promise((resolve) => {
    const program = join(process.cwd(), "node_modules", "oxlint", "bin", "oxlint");
    execFile(process.execPath, [program, "--format", "json"], { cwd }, (_, stdout) =>
      resolve(stdout),
    );
  });
