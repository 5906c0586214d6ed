import { expect } from "chai";
import type { Page } from "playwright-core";
import { rows } from "#src/infrastructure/db.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import { stationsInView } from "#test/browser/map-site.ts";
import { mapAt, useOwnMap, titleOf } from "#test/browser/offline-drive.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { axeFaults, fitsWidth, useBrowser, openPage } from "#test/harness/browser.ts";

describe("browser: what drivers say of stations themselves", function () {
  useBrowser();
  const site = useOwnMap();
  before(async () => {
    await addOperator(site.country.db, "olga");
  });

  const press = (page: Page, name: string) =>
    page.getByRole("button", { name, exact: true }).click();
  const said = (kind: string) =>
    until(
      () =>
        rows<{ station_id: string; lat: number; lon: number; text: string }>(
          site.country.db,
          "select station_id, lat, lon, text from station_suggestions where kind = ?",
          [kind],
        ),
      ({ length }) => length > 0,
    );
  const isClean = async (page: Page): Promise<void> => {
    expect(await axeFaults(page)).to.deep.equal([]);
    expect(await fitsWidth(page)).to.equal(true);
  };

  it("are said on a phone, with the place by a pin on the map", async () => {
    const view = { phone: true, width: 360, height: 640 };
    const { page, complaints, close } = await openPage(view);
    await page.goto(mapAt(site, 5));
    await stationsInView(page);
    await page.getByRole("button", { name: titleOf(5) }).click();
    await press(page, "Something wrong with the station?");
    await page.getByRole("heading", { name: "What is wrong?" }).waitFor();
    await isClean(page);
    await page.getByLabel("It stands elsewhere").check();
    await press(page, "Send");
    await page.getByText("Say first where it stands.").waitFor();
    await press(page, "Show it on the map");
    await page.getByText("Move the map until the pin is on the place.").waitFor();
    await isClean(page);
    // Escape calls the choice off, and nothing else.
    await page.keyboard.press("Escape");
    await press(page, "Show it on the map");
    await page.locator(".maplibregl-canvas").focus();
    await page.keyboard.press("ArrowRight");
    await press(page, "Here");
    await page.getByText(/^Place chosen, \d+ m from/).waitFor();
    await page.getByLabel("In a few words").fill("behind\nthe  shop");
    await isClean(page);
    await press(page, "Send");
    await page.getByText("Thank you. The operator will look at it.").waitFor();
    const [moved] = await said("moved");
    expect(moved).to.include({ station_id: placeOf(5).id, text: "behind the shop" });
    expect(moved!.lat).to.be.closeTo(placeOf(5).lat, 0.01);
    // Back on the card, and what was asked is not asked again.
    await press(page, "Back");
    await page.getByRole("heading", { name: titleOf(5) }).waitFor();
    expect(complaints).to.deep.equal([]);
    await close();
  });

  it("are said in Russian on a wide dark page: one is missing where the driver stands", async () => {
    const { lat, lon } = placeOf(9);
    const position = { latitude: lat + 0.01, longitude: lon + 0.01, accuracy: 10 };
    const view = { locale: "ru-RU", width: 1280, height: 800, dark: true, position };
    const { page, complaints, close } = await openPage(view);
    await page.goto(mapAt(site, 9));
    await press(page, "Ещё");
    await press(page, "Здесь не хватает станции");
    await page.getByRole("heading", { name: "Станции нет на карте" }).waitFor();
    await press(page, "Там, где я сейчас");
    await page.getByText("Место выбрано.").waitFor();
    await isClean(page);
    await press(page, "Отправить");
    await page.getByText("Спасибо! Оператор проверит.").waitFor();
    const [missing] = await said("missing");
    expect(missing!.lat).to.be.closeTo(lat + 0.01, 0.00001);
    expect(missing!.lon).to.be.closeTo(lon + 0.01, 0.00001);
    expect(complaints).to.deep.equal([]);
    await close();
  });

  it("wait for the network like marks", async () => {
    const { page, close } = await openPage({ phone: true, width: 390 });
    await page.goto(mapAt(site, 12));
    await stationsInView(page);
    await page.getByRole("button", { name: titleOf(12) }).click();
    await press(page, "Something wrong with the station?");
    await page.context().setOffline(true);
    await page.getByLabel("It is closed for good").check();
    await press(page, "Send");
    await page.getByText("It is kept on this device and goes out by itself.").waitFor();
    await page.getByText("1 suggestion waits for the network").waitFor();
    await isClean(page);
    await page.context().setOffline(false);
    const [closed] = await said("closed");
    expect(closed!.station_id).to.equal(placeOf(12).id);
    await page.getByText(`${titleOf(12)}: your suggestion has arrived.`).waitFor();
    await close();
  });

  it("come to the operator with the way to the station, and are decided with a way back", async () => {
    const { page, complaints, close } = await openPage({ width: 1280, height: 900 });
    await page.goto(`${site.web.baseUrl}/console/#/suggestions`);
    await page.getByLabel("Name").fill("olga");
    await page.getByLabel("Password").fill(testPassword);
    await press(page, "Sign in");
    const card = page.locator("article", { hasText: "It stands elsewhere" });
    await card.getByText("behind the shop").waitFor();
    await page.locator("article", { hasText: "A station is missing here" }).waitFor();
    await isClean(page);
    await card.getByRole("button", { name: "Move it …" }).click();
    const [moved] = await said("moved");
    await page.getByText("away", { exact: false }).first().waitFor();
    expect(await page.getByLabel("Latitude").inputValue()).to.equal(String(moved!.lat));
    await press(page, "Save");
    await page.getByText("Saved, served at once").waitFor();
    await page.goBack();
    await card.getByRole("button", { name: "Done" }).click();
    await page
      .getByText(/^Done: .*It stands elsewhere/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await card.getByRole("button", { name: "Not so" }).click();
    await page
      .getByText(/^Not so: /)
      .first()
      .waitFor();
    const missing = page.locator("article", { hasText: "A station is missing here" });
    await missing.getByRole("button", { name: "Add it …" }).click();
    await missing.getByLabel("Name").fill("New pumps");
    await isClean(page);
    await press(page, "Add the station");
    await missing.getByRole("link", { name: "New pumps" }).waitFor();
    expect(complaints.filter((one) => !one.includes("401"))).to.deep.equal([]);
    await close();
  });
});
