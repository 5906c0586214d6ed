import { Queue, Worker } from "bullmq";
import { expect } from "chai";
import { Redis } from "ioredis";
import type { Page } from "playwright-core";
import { until } from "#test/flow/client.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import { useBrowser, type OpenedPage, openPage } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";
import { useStage } from "#test/flow/stage.ts";

describe("browser: queues in the console", function () {
  this.timeout(120_000);
  const { instance, country, web } = useStage(1, ["web"]);
  let opened: OpenedPage;
  let redis: Redis;
  let queue: Queue;

  useBrowser();
  before(async () => {
    await addOperator(country.db, "olga");
    redis = new Redis(instance.redisUrl, { maxRetriesPerRequest: null });
    const connection = { connection: redis, prefix: instance.redisPrefix };
    queue = new Queue("upkeep", connection);
    await queue.add("fails", { n: 1 }, { attempts: 1 });
    const worker = new Worker(
      "upkeep",
      async () => {
        throw new Error("broken");
      },
      connection,
    );
    await until(
      () => queue.getFailedCount(),
      (count) => count === 1,
    );
    await worker.close();
  });
  after(async () => {
    await queue?.close();
    redis?.disconnect();
  });
  beforeEach(async () => {
    opened = await openPage();
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

  itLong(
    "speak the language of the browser, and one that is chosen in their settings",
    async () => {
      const cookies = await (await signIn()).context().cookies();
      for (const [locale, named, status] of [
        ["en", "en-GB", "Retry all"],
        ["ru", "ru-RU", "Повторить все"],
      ] as const) {
        const other = await openPage({ locale });
        try {
          const { page } = other;
          await page.context().addCookies(cookies);
          const url = `${web.baseUrl}/console/queues/queue/upkeep?status=failed`;
          await page.goto(url);
          await page.getByText(status, { exact: true }).first().waitFor();
          expect(await page.locator("html").getAttribute("lang")).to.equal(named);
          const chosen = JSON.stringify({ state: { language: "ru-RU" }, version: 0 });
          await page.evaluate(`localStorage.setItem("board-settings", ${JSON.stringify(chosen)})`);
          await page.goto(url);
          await page.getByText("Повторить все", { exact: true }).first().waitFor();
          expect(other.complaints).to.deep.equal([]);
        } finally {
          await other.close();
        }
      }
    },
  );
});
