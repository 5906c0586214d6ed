import { expect } from "chai";
import { mergeStation } from "#src/stations/join-stations.ts";
import { sized } from "#test/harness/long.ts";
import { russian } from "#web/console/russian/all.ts";
import { russian as ofKit } from "#web/kit/russian.ts";
import { useConsole } from "#test/browser/console-site.ts";
import { englishLeft } from "#test/browser/english-left.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { testPassword } from "#test/flow/operators.ts";
import { axeFaults, fitsWidth, openPage } from "#test/harness/browser.ts";
import { by } from "#test/harness/by.ts";

describe("browser: console, which source wins a field (decisions 14.42)", function () {
  const site = useConsole();
  const { goTo, signIn, press, complaints } = site;
  const [part, whole] = [placeOf(10).id, placeOf(11).id];
  const join = async () => {
    const register = { source: "register", name: "Register" };
    await site.country.db("stations").where({ id: part }).update(register);
    await mergeStation(by(site.country.db, "olga"), { other: whole }, part);
  };
  const nameOf = async (): Promise<string> =>
    (await site.partner.get(`/stations/${whole}`)).body.station.name;

  it("says how many stations would change, changes them, and takes it back", async () => {
    const page = await signIn("/imports");
    await page.getByText("No station has several sources yet.").waitFor();
    const before = await nameOf();
    await join();
    await page.reload();
    await press(page, "Change it … Name");
    await page.getByText("Stations that would change: 0 of 1.").waitFor();
    await page.getByLabel("First").selectOption("register");
    await page.getByText("Stations that would change: 1 of 1.").waitFor();
    await page.getByLabel("Else, 2").selectOption("test");
    expect(await nameOf()).to.equal(before);
    await press(page, "Save");
    await page.getByText("Saved; stations changed: 1").waitFor();
    await page.getByRole("cell", { name: "register, test" }).waitFor();
    await until(nameOf, (name) => name === "Register");
    await goTo(page, "/decisions");
    await page.getByRole("button", { name: /^Undo/ }).first().click();
    await until(nameOf, (name) => name === before);
    expect(complaints(site.opened)).to.deep.equal([]);
  });

  it("shows a viewer the rules and nothing that changes them", async () => {
    const page = await signIn("/imports", "vera");
    await page.getByRole("cell", { name: "the own one of each station" }).first().waitFor();
    expect(await page.getByRole("button", { name: /Change it/ }).count()).to.equal(0);
  });

  for (const dark of sized([true], [false, true]))
    it(`has no fault that axe finds and fits a narrow window, ${dark ? "dark" : "light"}, in Russian`, async () => {
      const view = await openPage({ width: 320, dark, locale: "ru-RU" });
      const { page } = view;
      await goTo(page, "/imports");
      await page.getByLabel("Имя", { exact: true }).fill("olga");
      await page.getByLabel("Пароль", { exact: true }).fill(testPassword);
      await page.getByRole("button", { name: "Войти", exact: true }).click();
      await page.getByRole("button", { name: "Изменить … Местоположение" }).click();
      await page.getByText("Изменится станций: 0 из 1.").waitFor();
      expect(await axeFaults(page)).to.deep.equal([]);
      expect(await fitsWidth(page)).to.equal(true);
      expect(await englishLeft(page, { ...ofKit, ...russian })).to.deep.equal([]);
      await view.close();
    });
});
