import { Queue, Worker } from "bullmq";
import { expect } from "chai";
import { Redis } from "ioredis";
import type { Browser, Page } from "playwright-core";
import { until } from "#test/flow/client.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import { axeFaults, openBrowser, type OpenedPage, openPage } from "#test/harness/browser.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { itLong } from "#test/harness/long.ts";

describe("browser: queues in the console", function () {
  this.timeout(120_000);
  let browser: Browser;
  let instance: TestInstance;
  let country: Country;
  let web: RunningRole;
  let opened: OpenedPage;
  let redis: Redis;
  let queue: Queue;

  before(async function () {
    browser = await openBrowser(this);
    instance = await createTestInstance();
    country = await openCountry(instance.config, 1);
    web = await startRole("web", instance.env);
    await addOperator(country.db, "olga", "operator");
    redis = new Redis(instance.redisUrl, { maxRetriesPerRequest: null });
    const connection = { connection: redis, prefix: instance.redisPrefix };
    queue = new Queue("upkeep", connection);
    await queue.add("fails", { n: 1 }, { attempts: 1 });
    await queue.add("works", { n: 2 }, { removeOnComplete: false });
    const worker = new Worker(
      "upkeep",
      async (job) => {
        await job.log("a line");
        if (job.name === "fails") throw new Error("broken");
        return { done: true };
      },
      connection,
    );
    await until(
      () => queue.getJobCounts("failed", "completed"),
      (counts) => counts["failed"] === 1 && counts["completed"] === 1,
    );
    await worker.close();
    await queue.add("waits", { n: 3 });
    await queue.add("later", { n: 4 }, { delay: 3_600_000 });
    await queue.upsertJobScheduler("each", { every: 3_600_000 });
  });
  after(async () => {
    await queue?.close();
    redis?.disconnect();
    await web?.stop();
    await country?.close();
    await instance?.drop();
    await browser?.close();
  });
  beforeEach(async () => {
    opened = await openPage(browser);
  });
  afterEach(() => opened.close());

  const signIn = async (): Promise<Page> => {
    const { page } = opened;
    await page.goto(`${web.baseUrl}/console/#/`);
    await page.getByLabel("Name").fill("olga");
    await page.getByLabel("Password").fill(testPassword);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("navigation", { name: "Console" }).waitFor();
    return page;
  };
  const button = (page: Page, name: string) =>
    page.getByRole("button", { name, exact: true }).first();
  /** What is wrong beside bull-board's own design: its colours, headings, empty table headers and repeated words. */
  const faultsOf = (page: Page): Promise<string[]> =>
    axeFaults(page, [
      ...["color-contrast", "empty-table-header", "heading-order", "page-has-heading-one"],
      ...["image-redundant-alt", "label-content-name-mismatch"],
    ]);

  itLong(
    "have a name for every button, jobs of each state and the job's own page included",
    async () => {
      const page = await signIn();
      const [failed] = await queue.getFailed();
      const bar = ["Redis details", "Full screen", "Settings", "Links"];
      for (const [path, buttons] of [
        ["", [...bar, "More actions"]],
        ["queue/upkeep?status=failed", ["Retry", "Duplicate", "Update data", "Clean", "Copy"]],
        ["queue/upkeep?status=completed", ["Duplicate", "Retry", "Clean", "Copy"]],
        ["queue/upkeep?status=delayed", ["Promote", "Reschedule", "Update data", "Clean"]],
        ["queue/upkeep?status=waiting", ["Duplicate", "Update data", "Clean"]],
        ["queue/upkeep", ["More actions", "Retry"]],
        [`queue/upkeep/${failed!.id}`, ["Retry", "Duplicate", "Update data", "Clean"]],
        ["job-schedulers", bar],
      ] as const) {
        await page.goto(`${web.baseUrl}/console/queues/${path}`);
        for (const name of buttons) await button(page, name).waitFor();
        expect(await faultsOf(page), path).to.deep.equal([]);
        expect(await page.getByRole("button", { name: "Action", exact: true }).count()).to.equal(0);
      }
      expect(opened.complaints.filter((one) => !one.includes("401"))).to.deep.equal([]);
    },
  );

  it("do what the name says", async () => {
    const page = await signIn();
    await page.goto(`${web.baseUrl}/console/queues/queue/upkeep?status=failed`);
    await button(page, "Clean").hover();
    await page.getByText("Clean", { exact: true }).waitFor();
    await button(page, "Settings").click();
    await page.getByRole("dialog").getByText("Settings", { exact: true }).first().waitFor();
    expect(await faultsOf(page)).to.deep.equal([]);
  });

  itLong(
    "speak the viewer's language: their own choice, else the console's, else the browser's",
    async () => {
      const page = await signIn();
      // Of this name bull-board by itself knows no language.
      const second = await openPage(browser, { locale: "ru" });
      try {
        const { page: board } = second;
        await board.context().addCookies(await page.context().cookies());
        const url = `${web.baseUrl}/console/queues/queue/upkeep?status=failed`;
        const language = () => board.locator("html").getAttribute("lang");

        await board.goto(url);
        for (const name of ["Сведения о Redis", "Настройки", "Повторить", "Удалить"])
          await button(board, name).waitFor();
        await board.getByRole("link", { name: "Очереди Fuelmark" }).waitFor();
        expect(await board.title()).to.equal("Очереди Fuelmark");
        expect(await language()).to.equal("ru-RU");
        expect(await faultsOf(board)).to.deep.equal([]);
        await button(board, "Ссылки").click();
        await board.getByRole("menuitem", { name: "Консоль" }).waitFor();

        await board.evaluate(`localStorage.setItem("language", "en")`);
        await board.goto(url);
        await button(board, "Retry").waitFor();
        expect(await board.title()).to.equal("Fuelmark queues");
        expect(await language()).to.equal("en-GB");

        await button(board, "Settings").click();
        await board.getByRole("combobox", { name: "Language" }).click();
        await board.getByRole("option", { name: "ru-RU" }).click();
        await board.getByRole("dialog", { name: "Настройки" }).waitFor();
        await board.goto(url);
        await button(board, "Повторить").waitFor();
        expect(await language()).to.equal("ru-RU");
        expect(second.complaints).to.deep.equal([]);
      } finally {
        await second.close();
      }
    },
  );
});
