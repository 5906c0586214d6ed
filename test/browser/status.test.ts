import { expect } from "chai";
import { closeIncident, openIncident } from "#src/alarms/service/incidents.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { feeds } from "#src/domain/service-state.ts";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { isClean, openPage, useBrowser, type PageOptions } from "#test/harness/browser.ts";
import { by } from "#test/harness/by.ts";
import { sized } from "#test/harness/long.ts";
import { useStage } from "#test/flow/stage.ts";
import { useRoles } from "#test/harness/use.ts";

describe("browser: the status of the service", function () {
  useBrowser();
  const { instance, country } = useStage(0, [], { POLL_MS: "200" });
  before(async () => {
    const { db } = country;
    await rows(
      db,
      `insert into service_days (day, feed, first_minute, last_well, well)
       select (server_now() at time zone 'UTC')::date - d, feed, 0, 1439,
         case when d = 12 then 1000 when d = 30 and feed = 'dumps' then 1431 else 1440 end
       from generate_series(-1, 60) d cross join unnest(?::text[]) f(feed)`,
      [feeds],
    );
    const en = "The dumps of the whole country come late";
    const told = { title: en, title_ru: "Выгрузки задерживаются", feeds: ["dumps" as const] };
    const [first, more] = ["We look into it.", "A disk has been replaced: all is well again."];
    const past = await openIncident(by(db, "olga"), { ...told, text: first! });
    if (!isRefusal(past)) await closeIncident(by(db, "olga"), { text: more! }, past.id);
    await openIncident(by(db, "olga"), { ...told, text: first!, text_ru: "Разбираемся." });
  });
  const [web] = useRoles(["web"], instance);

  const looked: [name: string, options: PageOptions, title: string, feed: string][] = [
    [
      "phone-ru-dark",
      { phone: true, width: 360, height: 740, locale: "ru-RU", dark: true },
      ...(["Состояние сервиса", "Выгрузки всей страны"] as const),
    ],
    ["desktop-en", { width: 1100 }, "Service status", "Dumps of the whole country"],
  ];
  for (const [name, options, title, feed] of looked.slice(0, sized(1, looked.length)))
    it(`is clean, fits and says in words what its bars show: ${name}`, async () => {
      const { page, complaints } = await openPage(options);
      await until(
        async () =>
          (await (await fetch(`${web!.baseUrl}/status.json`)).json()) as { days: object[] },
        ({ days }) => days.length > 0,
      );
      await page.goto(`${web!.baseUrl}/status`);
      await page.getByRole("heading", { name: title, exact: true }).waitFor();
      const bars = page.getByRole("img", { name: new RegExp(`^${feed}`) });
      expect(await bars.getAttribute("aria-label")).to.match(/69[.,]44/);
      expect(await bars.locator("rect.bad").count()).to.be.equal(1);
      expect(await bars.locator("rect.none").count()).to.be.within(28, 29);
      expect(await page.locator(".incidents .state").count()).to.equal(1);
      await page.locator("summary").click();
      await page.getByRole("rowheader").first().waitFor();
      await isClean(page);
      expect(complaints).to.deep.equal([]);
    });
});
