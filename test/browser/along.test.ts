import { expect } from "chai";
import type { Page } from "playwright-core";
import { mapAt, useOwnMap, titleOf } from "#test/browser/offline-drive.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import {
  axeFaults,
  fitsWidth,
  useBrowser,
  openPage,
  type PageOptions,
} from "#test/harness/browser.ts";

describe("browser: stations along a driver's way", function () {
  useBrowser();
  const site = useOwnMap();
  before(async () => {
    const api = createClient(site.web.baseUrl, site.country.secret);
    for (const [n, fuels] of [
      [4, ["95"]],
      [9, ["92"]],
      [20, ["95", "92"]],
    ] as const) {
      await api.mark(placeOf(n), `driver ${n}`, { status: "yes", fuels });
      await until(
        () => api.get(`/stations/${placeOf(n).id}`),
        (answer) => answer.body.station.fuel.status !== "nodata",
      );
    }
  });

  const press = (page: Page, name: string) =>
    page.getByRole("button", { name, exact: true }).click();
  const open = async (options: PageOptions) => {
    const { lat, lon } = placeOf(30);
    const position = { latitude: lat, longitude: lon, accuracy: 10 };
    const opened = await openPage({ ...options, position });
    await opened.page.goto(`${mapAt(site, 30)}&fuel=95`);
    return opened;
  };
  const isClean = async (page: Page): Promise<void> => {
    expect(await axeFaults(page)).to.deep.equal([]);
    expect(await fitsWidth(page)).to.equal(true);
  };

  it("are listed in the order of the way to a city, and follow the fuel", async () => {
    const { page, complaints, close } = await open({ phone: true, width: 360, height: 640 });
    await press(page, "More");
    await press(page, "Along my way");
    await page.getByText("Near the straight line: the map does not know the roads.").waitFor();
    await page.getByLabel("Choose a city …").selectOption({ label: "Testograd" });
    await page.getByText(/^2 stations with 95 on \d+ km$/).waitFor();
    const rows = page.locator(".stations .station-row");
    expect(await rows.allInnerTexts()).to.have.length(2);
    expect(await rows.nth(0).innerText()).to.include(titleOf(20));
    expect(await rows.nth(1).innerText()).to.match(/after [\d.]+ km, \d+ m aside/);
    await isClean(page);
    await page.locator(".panel").getByRole("button", { name: "92", exact: true }).click();
    await page.locator(`[data-id="${placeOf(9).id}"]`).waitFor();
    expect(complaints).to.deep.equal([]);
    await close();
  });

  it("are looked for in Russian to a place on the map, and not without a network", async () => {
    const { page, close } = await open({ locale: "ru-RU", width: 1280, height: 800, dark: true });
    await page.getByRole("region", { name: "Карта заправочных станций" }).waitFor();
    await press(page, "Ещё");
    await press(page, "По пути");
    await press(page, "Показать место на карте");
    await press(page, "Здесь");
    await page.getByText("место на карте", { exact: true }).waitFor();
    await page.getByText(/станци[яий] с 95 на|нет известных станций/).waitFor();
    await isClean(page);
    await page.context().setOffline(true);
    await page.getByLabel("15 км", { exact: true }).check();
    await page.getByText("Нет сети. Искать станции по пути можно только с сетью.").waitFor();
    await close();
  });
});
