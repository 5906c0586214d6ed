import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { build } from "rolldown";

/** A process that runs `code` with a log, like every role's, in `log`, bundled as roles are into `folder`. */
function logging(code: string): ChildProcess {
  const program = `import { createLog } from "${folder}/log.js";
    import { dieLoudly } from "${folder}/lifecycle.js";
    const log = createLog({ logLevel: "info" }, "test");
    ${code}`;
  return spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function linesOf(child: ChildProcess): Promise<{ msg: string }[]> {
  child.stderr!.resume();
  let text = "";
  for await (const chunk of child.stdout!.setEncoding("utf8")) text += chunk as string;
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { msg: string });
}

const thousand = 'for (let n = 0; n < 1000; n++) log.info("line " + n);';
const numbered = Array.from({ length: 1000 }, (_, n) => `line ${n}`);

const folder = mkdtempSync(join(tmpdir(), "fuelmark-log-"));

describe("the log of a process", () => {
  before(async () => {
    const from = (name: string): string => join("src", "infrastructure", `${name}.ts`);
    const input = { log: from("log"), lifecycle: from("lifecycle") };
    // knex names drivers that we do not have.
    const quiet = { platform: "node", logLevel: "silent" } as const;
    await build({ input, ...quiet, output: { dir: folder, format: "esm" } });
  });
  after(() => rmSync(folder, { recursive: true }));

  it("loses no line when an error is thrown that nobody catches", async () => {
    const loud = await linesOf(logging(`dieLoudly(log); ${thousand} throw new Error("lost");`));
    expect(loud.map(({ msg }) => msg)).to.deep.equal([...numbered, "unexpected error"]);
    const bare = await linesOf(logging(`${thousand} throw new Error("lost");`));
    expect(bare.map(({ msg }) => msg)).to.deep.equal(numbered);
  });

  it("loses no line at process.exit nor at the end of a program", async () => {
    for (const end of ["process.exit(0);", ""]) {
      const lines = await linesOf(logging(`${thousand} ${end}`));
      expect(lines.map(({ msg }) => msg)).to.deep.equal(numbered);
    }
  });

  it("has written an error, and all before it, when the process is killed right after", async () => {
    const child = logging(`${thousand} log.error("bad"); process.kill(process.pid, "SIGKILL");`);
    const lines = await linesOf(child);
    expect(lines.map(({ msg }) => msg)).to.deep.equal([...numbered, "bad"]);
  });

  it("does not hold the end of the process up although nobody ever reads", async () => {
    const child = logging(
      `for (let n = 0; n < 4000; n++) log.info({ long: "x".repeat(500) }, "line");
       process.exit(7);`,
    );
    const [code] = (await once(child, "exit")) as [number];
    expect(code).to.equal(7);
    child.stdout!.destroy();
  });

  it("does not hold the process up while nobody reads, and loses nothing then", async () => {
    const child = logging(
      `for (let n = 0; n < 4000; n++) log.info({ long: "x".repeat(500) }, "line");
       let turns = 0;
       const timer = setInterval(() => {
         if ((turns += 1) < 20) return;
         clearInterval(timer);
         log.info("twenty turns");
         process.stderr.write("turned");
       }, 1);`,
    );
    await once(child.stderr!, "data");
    const lines = await linesOf(child);
    expect(lines.length).to.equal(4001);
    expect(lines.at(-1)?.msg).to.equal("twenty turns");
  });
});
