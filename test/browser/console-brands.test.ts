import { expect } from "chai";
import { russian } from "#web/console/russian/all.ts";
import { russian as ofKit } from "#web/kit/russian.ts";
import { useConsole } from "#test/browser/console-site.ts";
import { englishLeft } from "#test/browser/english-left.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { testPassword } from "#test/flow/operators.ts";
import { axeFaults, fitsWidth, openPage } from "#test/harness/browser.ts";
import { sized } from "#test/harness/long.ts";

describe("browser: console, brands", function () {
  const site = useConsole();
  const { goTo, signIn, press, complaints } = site;
  const brandOf = async (n: number): Promise<string> =>
    (await site.partner.get(`/stations/${placeOf(n).id}`)).body.station.brand;

  it("gives an unknown brand to another one, and takes the alias away", async () => {
    const page = await signIn("/brands");
    await page.getByText("0 of 60 stations with a brand have a known one.").waitFor();
    await press(page, "It is another brand … Brand");
    await page.locator("input:focus").fill("Полюс");
    expect(await page.getByLabel("Spelling").inputValue()).to.equal("Brand");
    await press(page, "Give the spelling to the brand");
    await page.getByText("Saved; stations changed: 60").waitFor();
    await page.getByText("60 of 60 stations with a brand have a known one.").waitFor();
    await until(
      () => brandOf(7),
      (brand) => brand === "Полюс",
    );
    await page.getByLabel("Spelling").fill("№ 5");
    await page.getByLabel("Brand").fill("Кедр");
    await press(page, "Give the spelling to the brand");
    await page.getByText("Has nothing by which a brand is known").waitFor();
    await press(page, "Take away Brand");
    await page.getByText("No aliases yet.").waitFor();
    // The stations keep what they have got.
    expect(await brandOf(7)).to.equal("Полюс");
    expect(complaints(site.opened).filter((one) => !one.includes("422"))).to.deep.equal([]);
  });

  it("shows a viewer the aliases and nothing that changes them", async () => {
    await site.country.db("brand_aliases").insert([
      { key: "полюсплюс", spelling: "Полюс-плюс", brand: "Полюс" },
      { key: "частник", spelling: "Частник", brand: "" },
    ]);
    const page = await signIn("/brands", "vera");
    await page.getByRole("cell", { name: "Полюс-плюс" }).waitFor();
    await page.getByRole("cell", { name: "no brand" }).waitFor();
    expect(await page.getByLabel("Spelling").count()).to.equal(0);
    expect(await page.getByRole("button", { name: /Take away|another brand/ }).count()).to.equal(0);
  });

  for (const dark of sized([true], [false, true]))
    it(`has no fault that axe finds and fits a narrow window, ${dark ? "dark" : "light"}, in Russian`, async () => {
      await site.country.db.raw(
        "update stations set brand = 'Неизвестная сеть с длинным названием'",
      );
      const view = await openPage({ width: 320, dark, locale: "ru-RU" });
      const { page } = view;
      await goTo(page, "/brands");
      await page.getByLabel("Имя", { exact: true }).fill("olga");
      await page.getByLabel("Пароль", { exact: true }).fill(testPassword);
      await page.getByRole("button", { name: "Войти", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Сети" }).waitFor();
      await page.getByRole("button", { name: /Это другая сеть/ }).waitFor();
      expect(await axeFaults(page)).to.deep.equal([]);
      expect(await fitsWidth(page)).to.equal(true);
      expect(await englishLeft(page, { ...ofKit, ...russian })).to.deep.equal([]);
      await view.close();
    });
});
