import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";

// It is plain JavaScript, of which the compiler knows nothing.
const { nodeFault } = (await import(pathToFileURL(resolve("demo/runtime.mjs")).href)) as {
  nodeFault(version: string): string | null;
};

describe("the Node that programs run on", () => {
  const good = ["20.19.2", "20.20.0", "22.12.0", "22.22.1", "23.0.0", "24.1.0", "30.0.0"];
  const bad = [
    "12.22.12",
    "18.20.8",
    "20.18.3",
    "20.19.0",
    "20.19.1",
    "21.7.3",
    "22.0.0",
    "22.11.0",
  ];

  it("is one on which all of them work; any other is refused in one line that names it", () => {
    for (const version of good) expect(nodeFault(version), version).to.equal(null);
    for (const version of bad)
      expect(nodeFault(version))
        .to.match(/^[^\n]*20\.19\.2 or a later 20, or 22\.12[^\n]*$/)
        .and.contain(`this is ${version}:`);
  });

  it("is asked for in the same words by the package and the README", () => {
    const { engines } = JSON.parse(readFileSync("package.json", "utf8")) as {
      engines: { node: string };
    };
    expect(engines.node).to.equal("^20.19.2 || >=22.12");
    expect(readFileSync("README.md", "utf8")).to.contain(
      "Node.js 20.19.2 or a later 20, or 22.12 or newer",
    );
  });

  it("reads the check though it cannot read what comes after", () => {
    for (const name of ["web", "worker", "release", "operator", "import-thread"]) {
      const [first, second, ...more] = readFileSync(`dist/${name}.js`, "utf8").trim().split("\n");
      expect([first, second]).to.deep.equal([
        'import "./runtime.mjs";',
        `import("./programs/${name}.js");`,
      ]);
      expect(more).to.deep.equal([]);
    }
    expect(readFileSync("dist/runtime.mjs", "utf8")).not.to.match(/\?\.|\?\?|\bawait\b|^import/m);
  });
});
