import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { projectRoot } from "#src/infrastructure/project-root.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { provided } from "#test/harness/provided.ts";

describe("the import thread as it is bundled", () => {
  let instance: TestInstance;
  before(async () => {
    instance = await createTestInstance();
  });
  after(() => instance.drop());

  it("reads a file, and says why it cannot be taken", async () => {
    const path = join(provided("TEST_DATA"), `cities-${process.pid}.csv`);
    writeFileSync(path, "x\n");
    const thread = new Worker(join(projectRoot, "dist", "import-thread.js"), {
      workerData: {
        ...{ kind: "cities", paths: [path], source: undefined, replaceSource: false, dryRun: true },
        config: instance.config,
      },
    });
    const exited = once(thread, "exit");
    const said: { kind: string; fault?: string }[] = [];
    thread.on("message", (word: (typeof said)[0]) => said.push(word));
    expect(await exited).to.deep.equal([0]);
    expect(said.at(-1)?.kind).to.equal("refused");
    expect(said.at(-1)?.fault).to.contain("neither hflabs nor GeoNames");
  });
});
