import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { cloneProject, type Clone, type Started } from "#test/harness/clone.ts";
import { until } from "#test/flow/client.ts";
import { codeBlocks, newcomerBlocks, runBlocks, shellBlocks } from "#test/harness/documents.ts";

interface Report {
  report_id: string;
  published: { outcome: string };
  station: { fuel: { prices: string } };
  type: string;
}
interface Usage {
  limits: object;
  days: { methods: Record<string, number> }[];
}

/** What the restore test runs on a database of its own. */
const elsewhere = "Back up and restore";

describe("lines of the documents", function () {
  // Each line of the operator is a process of its own, and there are some forty.
  this.timeout(600_000);
  let clone: Clone;
  let running: Started;
  let ran: Map<string, string>;

  before(async () => {
    clone = cloneProject();
    running = clone.start({ DEMO_TRICKLE: "false" });
    const [, base] = await running.waitFor(/Fuelmark is running at (\S+)/, 120_000);
    const [, key] = await running.waitFor(/secret key: +(\S+)/);
    // Until the first chances are in the dump, it changes by itself.
    await until(
      async () => {
        const headers = { Authorization: `Bearer ${key}` };
        const answer = await fetch(`${base}/api/v1/partner/stations/all?limit=30000`, { headers });
        return answer.text();
      },
      (text) => text.includes('"chance":'),
    );
    const manuals = ["docs/operations.md", "docs/imports.md"]
      .flatMap((path) => shellBlocks(readFileSync(path, "utf8")))
      .filter(({ under }) => !under.includes(elsewhere));
    const guide = codeBlocks(readFileSync("docs/partners.md", "utf8"));
    const hasPython = spawnSync("python3", ["--version"]).status === 0;
    if (!hasPython) console.log("      no python3 here: the guide's Python is not run");
    const runnable = guide.filter(({ language }) => language !== "python" || hasPython);
    ran = await runBlocks([...newcomerBlocks(), ...runnable, ...manuals], clone.folder);
  });
  after(async () => {
    running.signal("SIGTERM");
    await running.exited;
    await clone.drop();
  });

  const outputUnder = (heading: string): string => {
    const found = ran.get(heading);
    if (found === undefined)
      throw new Error(`no lines under ${heading}: ${[...ran.keys()].join(", ")}`);
    return found;
  };

  it("let a partner read the whole country, and then what has changed", () => {
    const lines = outputUnder("As an engineer who reads the whole country").trim().split("\n");
    expect(lines[0]).to.equal("304");
    expect(JSON.parse(lines[1] ?? "")).to.have.keys([
      ...["stations", "count", "as_of", "stale_after_hours", "truncated", "removed", "digest"],
    ]);
  });

  it("send a mark, read it back, and repeat it without harm", () => {
    const [mark, read, again, fault] = outputUnder("As an engineer who forwards marks")
      .split(/(?<=\})(?=\{)/)
      .map((text) => JSON.parse(text) as Report);
    expect(mark).to.deep.include({ accepted: true, remote: false, duplicate: false });
    expect(mark?.published.outcome).to.be.oneOf(["published", "confirmed"]);
    expect(read?.station.fuel).to.include({ status: "yes", fuels_now: "92,95" });
    expect(read?.station.fuel.prices).to.contain("95=62.50");
    expect(again).to.include({ accepted: true, duplicate: true, report_id: mark?.report_id });
    expect(fault?.type).to.match(/\/bad-grade$/);
  });

  it("show the operator how things are", () => {
    const shown = outputUnder("As an operator");
    expect(shown).to.contain("Usage: operator");
    expect(shown).to.contain("My app");
    expect(shown).to.contain("unprocessed_marks");
    expect(shown).to.contain("REPORTER_PEPPER");
    expect(shown).to.contain('"ready":true');
    expect(shown).to.match(/fuelmark_marks_total\{result="accepted"\} [1-9]/);
  });

  it("ask for a higher limit, approve it, and find it in the usage", () => {
    const shown = outputUnder("When a partner needs more");
    expect(shown).to.contain('"status":"pending"');
    expect(shown).to.match(/^status +approved$/m);
    expect(shown).to.match(/limit-request\.approve/);
    const usage = JSON.parse(/\{"today":.*\}\s*$/.exec(shown)?.[0] ?? "null") as Usage;
    expect(usage.limits).to.deep.equal({ rpm: 600, daily: 200_000 });
    expect(usage.days[0]?.methods).to.include({
      "POST /stations/{station_id}/report": 3,
      "POST /limit-requests": 1,
    });
  });

  it("are true of the guide's calls in curl, Python and TypeScript", () => {
    const linesUnder = (heading: string): string[] =>
      outputUnder(heading)
        .split("\n")
        .filter((line) => line !== "");
    const [json, ...lines] = linesUnder("The first call");
    expect(json).to.match(/^\{"stations":\[\{/);
    expect(lines.length).to.be.oneOf([3, 6]);
    expect(lines.slice(-3)).to.deep.equal(lines.slice(0, 3));
    for (const line of linesUnder("Keep a copy"))
      expect(line).to.match(/^\d{4,} stations as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(linesUnder("Send marks")).to.deep.equal(["3 of 3 taken"]);
    const dry = JSON.parse(outputUnder("Test with dry runs")) as Report;
    expect(dry).to.include({ report_id: "", accepted: true, remote: true });
  });

  it("leave nothing that a test does not run", () => {
    const all = ["README.md", "docs/partners.md", "docs/operations.md", "docs/imports.md"].flatMap(
      (path) => shellBlocks(readFileSync(path, "utf8")).map(({ under }) => under),
    );
    const others = all.filter((under) => !ran.has(under.at(-1) ?? ""));
    expect([...new Set(others.map((under) => under.at(-1)))]).to.have.members([
      "Two commands",
      elsewhere,
    ]);
  });
});
