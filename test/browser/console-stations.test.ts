import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { issueConsumerKey } from "#src/keys/consumer-key.ts";
import { editStation } from "#src/stations/edit-station.ts";
import { by } from "#test/harness/by.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { isClean, openPage } from "#test/harness/browser.ts";
import { fixtures } from "#test/import/source-fixtures.ts";
import { useConsole } from "#test/browser/console-site.ts";
import { itLong } from "#test/harness/long.ts";

describe("browser: console, what is found, stations and people", function () {
  const site = useConsole();
  const { goTo, signIn, press, confirm, fuelOf, complaints } = site;

  itLong("exports what is kept of a person, then erases it", async () => {
    const place = site.nextPlace++;
    await site.partner.mark(placeOf(place), "asks for it", { status: "yes", text: "all well" });
    const page = await signIn("/people");
    await page.getByLabel("Where the person marks").selectOption(String(site.country.partnerId));
    await page.getByLabel("The partner’s user_ref").fill("asks for it");
    await press(page, "Export");
    await page.getByText(`"text": "all well"`).waitFor();
    await press(page, "Erase");
    await confirm(page, "Erase");
    await page.getByText("The person was erased. The marks stay.").waitFor();
    await press(page, "Export");
    await page.getByText("Nobody of this name is known.").waitFor();
    expect(await fuelOf(place)).to.include({ status: "yes" });
  });

  itLong("sets what a station sells and when it is open, and says what is wrong", async () => {
    const { id } = placeOf(site.nextPlace++);
    const page = await signIn(`/stations/${id}`);
    await page.setViewportSize({ width: 320, height: 900 });
    await page.getByLabel("Grades sold").fill("95, dt");
    await page.getByLabel("Opening hours").fill("six to ten");
    await press(page, "Save");
    await page.getByText(/Must be opening hours as OSM writes them/).waitFor();
    await page.getByLabel("Opening hours").fill("Mo-Su 06:00-22:00");
    await press(page, "Save");
    await page.getByText("Saved, served at once").waitFor();
    await page.getByText("Set by hand; imports leave it so:").waitFor();
    expect(await page.getByLabel("Grades sold").inputValue()).to.equal("95,ДТ");
    await isClean(page);
    const { body } = await until(
      () => site.partner.get(`/stations/${id}`),
      (answer) => "opening_hours" in answer.body.station,
    );
    expect(body.station).to.include({
      ...{ grades_sold: "95,ДТ", opening_hours: "Mo-Su 06:00-22:00" },
    });
  });

  itLong("says why a station shows what it shows", async () => {
    const place = site.nextPlace++;
    const { id } = placeOf(place);
    // Known for more than a week, so that no limit of the review concerns them.
    await site.country.meet("first", 9 * 24 * 60);
    await site.country.meet("second", 10 * 24 * 60);
    await site.partner.mark(placeOf(place), "first", { status: "low" });
    const far = { ...placeOf(place), lat: 50 };
    await site.partner.mark(far, "second", { status: "no" });
    const page = await signIn("/stations");
    await page.getByLabel("Search by id, name, brand or address").fill(`Station ${id}`);
    await page.getByRole("link", { name: `Station ${id}` }).click();
    await page.getByText("1 device of 1 needed, so it was published.").waitFor();
    const why = page.getByText(/sent without a position at the station\): 1 device of 2 needed/);
    await why.waitFor();
    await page.getByRole("cell", { name: "pending" }).waitFor();
  });

  itLong("finds pages, partners, keys and stations by Ctrl-K, and gives focus back", async () => {
    const { id, secret } = await addPartner(site.country);
    await rows(site.country.db, "update partners set name = 'Bensin Nord' where id = ?", [id]);
    const page = await signIn("/", "vera");
    const field = page.getByRole("combobox", { name: "Find a page" });
    const options = page.getByRole("dialog").getByRole("option");
    const chosen = page.getByRole("dialog").getByRole("option", { selected: true });
    const finds = async (text: string, group: string, option: string) => {
      await page.keyboard.press("Control+k");
      await field.fill(text);
      const found = page.getByRole("group", { name: group }).getByRole("option", { name: option });
      await found.first().waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    await finds("bensin", "Partners", "Bensin Nord");
    await page.getByRole("heading", { level: 1, name: "Bensin Nord" }).waitFor();
    await finds("quota", "Pages", "Limit requests");
    await page.getByRole("heading", { level: 1, name: "Limit requests" }).waitFor();
    const station = placeOf(3).id;
    await finds(station, "Stations", `Station ${station}`);
    await page.getByRole("heading", { level: 1, name: `Station ${station}` }).waitFor();
    // A pasted key is found, and only its beginning has left the page.
    await finds(secret, "Keys", "svc_live_");
    await page.getByRole("heading", { level: 1, name: "Bensin Nord" }).waitFor();
    expect(site.opened.requests.filter((url) => url.includes(secret.slice(0, 16)))).to.deep.equal(
      [],
    );

    const button = page.getByRole("button", { name: "Find", exact: true });
    await button.click();
    await field.fill("Brand");
    await options.nth(5).waitFor();
    const first = await chosen.textContent();
    await page.keyboard.press("ArrowDown");
    const second = await chosen.textContent();
    expect(second).to.not.equal(first);
    expect(await field.getAttribute("aria-activedescendant")).to.equal(
      await chosen.getAttribute("id"),
    );
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    expect(await chosen.textContent()).to.equal(await options.last().textContent());
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.locator("header button:focus", { hasText: "Find" }).waitFor();
    expect(complaints(site.opened)).to.deep.equal([]);
  });

  itLong("opens what was typed when Enter is first, and nothing over a question", async () => {
    const page = await signIn("/stations");
    await page.keyboard.press("Meta+k");
    await page.keyboard.type(placeOf(5).id);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: `Station ${placeOf(5).id}` }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("nothing has this name");
    await page.getByText("Nothing found.").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const { id } = await addPartner(site.country);
    await goTo(page, `/partners/${id}`);
    await press(page, "Issue a key");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Control+k");
    expect(await page.getByRole("combobox", { name: "Find a page" }).count()).to.equal(0);
  });

  itLong("takes a register's files, and shows in both languages what is left out", async () => {
    const { files } = fixtures["it-mimit"]!;
    const page = await signIn("/imports");
    await page.getByLabel("Register").selectOption("it-mimit");
    await page.getByText("Choose all at once: stations, prices").waitFor();
    await page.getByLabel("File", { exact: true }).setInputFiles(
      Object.entries(files).map(([name, text]) => ({
        ...{ name, mimeType: "text/csv" },
        buffer: Buffer.from(text),
      })),
    );
    await press(page, "Dry run, change nothing");
    const row = page.getByRole("row").filter({ hasText: "register.csv, prices.csv" });
    const amber = row.locator(".tag.warn");
    await amber.getByText("done, 2 left out").waitFor();
    await press(page, "Show what was left out");
    await page.getByRole("heading", { name: "Left out of register.csv, prices.csv" }).waitFor();
    await page.getByRole("cell", { name: "no-position", exact: true }).waitFor();
    await isClean(page);
    const link = page.getByRole("link", { name: "Download all as CSV" });
    const [file] = await Promise.all([page.waitForEvent("download"), link.click()]);
    expect(file.suggestedFilename()).to.equal("refused.csv");
    const view = await openPage({ width: 320, dark: true, locale: "ru-RU" });
    const { page: russian } = view;
    await signIn("/imports", "olga", view);
    await russian.getByRole("button", { name: "Показать пропущенное" }).first().click();
    await russian.getByRole("link", { name: "Скачать всё в CSV" }).waitFor();
    await isClean(russian);
  });

  itLong("corrects, shows on its map, closes and reopens a station (decisions 13.18)", async () => {
    const { id, lat, lon } = placeOf(59);
    await issueConsumerKey(site.country.db, site.instance.config);
    const page = await signIn(`/stations/${id}`);
    await page.getByRole("heading", { level: 1, name: `Station ${id}` }).waitFor();
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("АЗС 5");
    await page.getByLabel("Latitude").fill(`${lat + 0.01}, ${lon}`);
    const changes = page.locator(".changes");
    await changes.getByText(`Station ${id} → АЗС 5`).waitFor();
    await changes.getByText("1.1 km away").waitFor();
    // Somebody else was faster: what is typed is not lost, and nothing is overwritten.
    await editStation(by(site.country.db, "vera"), { name: "Another" }, id);
    await press(page, "Save");
    await confirm(page, "Move it");
    await page.getByRole("alert").getByText('it is now "Another"').waitFor();
    expect(await name.inputValue()).to.equal("АЗС 5");
    await press(page, "Discard");
    await until(
      () => name.inputValue(),
      (value) => value === "Another",
    );
    await name.fill("АЗС 5");
    await press(page, "Save");
    await page.getByRole("heading", { level: 1, name: "АЗС 5" }).waitFor();
    await until(
      () => site.partner.get(`/stations/${id}`),
      ({ body }) => body.station.name === "АЗС 5",
    );
    await press(page, "Show the map");
    const map = page.frameLocator("iframe");
    await map.getByRole("heading", { name: "АЗС 5" }).first().waitFor();
    await press(page, "Hide the map");
    await page.locator(".by-hand").getByText(`Station ${id}`).waitFor();
    await press(page, "Take it as the name");
    await page.getByRole("heading", { level: 1, name: `Station ${id}` }).waitFor();
    await press(page, "Close it …");
    await page.getByRole("dialog").getByLabel("Why").fill("demolished");
    await isClean(page);
    await confirm(page, "Close it");
    await page.getByText("closed by hand").waitFor();
    await until(
      () => site.partner.get(`/stations/${id}`),
      ({ status }) => status === 404,
    );
    await press(page, "Reopen it …");
    await confirm(page, "Reopen it");
    await page.getByText("closed by hand").waitFor({ state: "detached" });
    // The refused save is the one complaint: a 422 that the page shows.
    expect(complaints(site.opened).filter((one) => !one.includes("422"))).to.deep.equal([]);
    const log = await rows(
      site.country.db,
      "select actor, action from operator_log where subject = ? order by id",
      [`station ${id}`],
    );
    expect(log).to.deep.equal([
      { actor: "vera", action: "station.edit" },
      ...["edit", "edit", "close", "reopen"].map((verb) => ({
        actor: "olga",
        action: `station.${verb}`,
      })),
    ]);
  });
});
