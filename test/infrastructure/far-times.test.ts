import { expect } from "chai";
import { formatTime } from "#src/domain/time.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { createTestInstance } from "#test/harness/instance.ts";

describe("times that no calendar shows", () => {
  it("are read as the ends of the years 1 to 9999, and can be formatted", async () => {
    const instance = await createTestInstance();
    const db = createDb(instance.config, "test");
    const read = async (text: string): Promise<string> => {
      const [found] = await rows<{ at: Date }>(db, "select ?::timestamptz as at", [text]);
      return formatTime(found!.at.getTime());
    };
    expect(await read("infinity")).to.equal("9999-12-31 23:59:59");
    expect(await read("294276-12-31 UTC")).to.equal("9999-12-31 23:59:59");
    expect(await read("-infinity")).to.equal("0001-01-01 00:00:00");
    expect(await read("4713-01-01 BC")).to.equal("0001-01-01 00:00:00");
    expect(await read("2026-11-25 10:20:30.4+02")).to.equal("2026-11-25 08:20:30");
    expect(formatTime(9.3e15)).to.equal("9999-12-31 23:59:59");
    await db.destroy();
    await instance.drop();
  });
});
