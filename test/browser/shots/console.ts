import type { Page } from "playwright-core";
import { rows } from "#src/infrastructure/db.ts";
import { signInTo } from "#test/browser/console-site.ts";
import { createClient } from "#test/flow/client.ts";
import { type Place, placeOf } from "#test/flow/country.ts";
import { fillReview, holdMark } from "#test/flow/held-marks.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { addOperator } from "#test/flow/operators.ts";
import { useStage } from "#test/flow/stage.ts";
import { openPage, sharp, useBrowser, type PageOptions } from "#test/harness/browser.ts";

// Part of `npm run screenshots`: docs/images/console-*.png.
describe("screenshots: console", function () {
  let told: Place;

  useBrowser();
  const { country, web, client: sender } = useStage(60, ["web", "marks", "snapshots", "clock"]);
  before(async () => {
    await addOperator(country.db, "olga");
    await fill();
  });

  /** A morning in which a source sends many `no`, a partner asks for more, and drivers disagree. */
  async function fill(): Promise<void> {
    const { db, partnerId } = country;
    await rows(
      db,
      `update stations set name = 'АЗС № ' || (substr(id, 2)::int - 899),
         brand = (array['Полюс', 'Вега', 'Трасса'])[1 + substr(id, 2)::int % 3],
         addr = 'ул. Полевая, ' || (substr(id, 2)::int - 990)`,
    );
    await rows(
      db,
      "update partners set name = 'City Forum', rpm = 600, daily = 90000 where id = ?",
      [partnerId],
    );
    const asking = await addPartner(country, { rpm: 600, daily: 50_000 });
    await rows(db, "update partners set name = 'Roadside Maps' where id = ?", [asking.id]);
    await rows(
      db,
      `insert into usage_days select p, current_date - n, 'partner', 'GET /stations',
         (31000 + 9000 * sin(n * p + p))::int, 9000, 12 * n from generate_series(0, 13) n, unnest(?::int[]) p`,
      [[partnerId, asking.id]],
    );
    const asker = createClient(web.baseUrl, asking.secret);
    await Promise.all(Array.from({ length: 90 }, () => asker.get("/cities")));
    await asker.post("/limit-requests", {
      requested_rpm: 1500,
      requested_daily: 200_000,
      comment: "We open in three more regions next week.",
    });
    const next = await fillReview(sender, 0);
    const away = { lat: placeOf(next).lat + 0.004, lon: 37.003, acc_m: 120 };
    await holdMark(sender, next, { ...away, text: "Закрыто, бензина нет со вчерашнего дня" });
    await holdMark(sender, next + 1);
    await holdMark(sender, next + 3);

    told = placeOf(50);
    for (const [n, user] of ["ann", "bob", "eve", "ivan", "kim"].entries())
      await country.meet(user, 26 * 60 + n * 30);
    const grades = { fuels: ["92", "95"], fuels_no: ["ДТ"] };
    const said = { ...grades, prices: { "95": 62.5, "92": 58.1 }, limit_l: 20 };
    await sender.mark(told, "ann", { status: "yes", ...grades });
    await sender.mark({ ...told, lat: 50 }, "bob", { status: "no" });
    await sender.mark(told, "eve", { status: "low", ...said, text: "Двадцать литров в руки" });
    await sender.mark(told, "ivan", { status: "low", queue: "10-20" });
    await sender.mark({ ...told, lat: 50 }, "kim", { status: "no" });
  }

  async function shoot(
    name: string,
    path: string,
    options: PageOptions,
    before: (page: Page) => Promise<void> = async () => undefined,
  ): Promise<void> {
    const { page } = await openPage(sharp(options));
    await signInTo(web.baseUrl, page, path);
    await page.locator(".menu .count").nth(1).waitFor({ state: "attached" });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".waiting").first().waitFor({ state: "detached" });
    await before(page);
    await page.evaluate("document.fonts.ready");
    await page.screenshot({ path: `docs/images/console-${name}.png` });
  }
  const desk = { width: 1280, height: 860 };

  it("the review", () => shoot("review", "/review", desk));
  it("limit requests, dark", () =>
    shoot("limits-dark", "/limit-requests", { ...desk, dark: true }));
  it("a station and why it shows what it shows", () =>
    shoot("station", `/stations/${told.id}`, { ...desk, height: 1100 }));
  it("a rollback's preview", () =>
    shoot("rollback", `/rollback?partner=${country.partnerId}`, desk, async (page) => {
      await page.getByRole("button", { name: "Show what would change" }).click();
      await page.getByRole("heading", { name: "What would change" }).waitFor();
      await page.locator(".changes-map .land").first().waitFor({ state: "attached" });
    }));
  it("the overview on a phone", () =>
    shoot("phone", "/", { width: 390, height: 844, phone: true }));
});
