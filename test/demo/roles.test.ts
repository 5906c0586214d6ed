import { text } from "node:stream/consumers";
import { expect } from "chai";
import { readProcfile, spawnRole } from "#demo/roles.ts";

describe("a line of the Procfile", () => {
  it("has its own variables beside those given, where it begins with env", async () => {
    const show = ["-p", "[process.env.OWN, process.env.GIVEN].join()"];
    const child = spawnRole(["env", "OWN=1", "node", ...show], { GIVEN: "2" });
    expect((await text(child.stdout!)).trim()).to.equal("1,2");
    expect(readProcfile().get("snapshots")![0]).to.equal("env");
  });
});
