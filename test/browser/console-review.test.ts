import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { holdMark } from "#test/flow/held-marks.ts";
import { axeFaults } from "#test/harness/browser.ts";
import { useConsole } from "#test/browser/console-site.ts";
import { itLong } from "#test/harness/long.ts";

describe("browser: console, review and rollback", function () {
  const site = useConsole();
  const { signIn, press, confirm, fuelOf, complaints } = site;

  it("decides a group of held marks by the keyboard, and takes that back", async () => {
    for (const place of [site.nextPlace++, site.nextPlace++]) await holdMark(site.partner, place);
    // Of one hour, also when it has just turned.
    const first = "(select min(received_at) from marks where review = 'held')";
    await rows(site.country.db, `update marks set received_at = ${first} where review = 'held'`);
    const page = await signIn("/review");
    const group = page.getByRole("article").filter({ hasText: "2 × no fuel" });
    await group.waitFor();
    await group.getByRole("button", { name: "What would change" }).click();
    await group.getByRole("img", { name: /^Map\. 2 stations\./ }).waitFor();
    // The bundled land is under them, from this server.
    await group.locator(".changes-map .land").first().waitFor({ state: "attached" });
    expect(await axeFaults(page)).to.deep.equal([]);
    expect(complaints(site.opened)).to.deep.equal([]);
    await page.keyboard.press("r");
    await confirm(page, "Reject");
    await page.getByText("2 marks were rejected.").waitFor();
    await page.getByText("No marks are held.").waitFor();
    await press(page, "Undo");
    await group.waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    // The key A of a Russian keyboard.
    await page.locator("body").dispatchEvent("keydown", { key: "ф", code: "KeyA" });
    await confirm(page, "Approve");
    await page.getByText("2 marks were approved.").waitFor();
    await page.getByText("No marks are held.").waitFor();
  });

  it("takes a group's decision back after its page was left, from the decisions to which the log links", async () => {
    const place = site.nextPlace++;
    await holdMark(site.partner, place);
    const page = await signIn("/review");
    const group = page.getByRole("article").filter({ hasText: "1 × no fuel" });
    await group.waitFor();
    // The badge counts what the page shows.
    await holdMark(site.partner, site.nextPlace++);
    await page.reload();
    await page.getByText("2 held").waitFor();
    await page.getByRole("link", { name: "Review 2 waiting" }).waitFor();
    await page
      .getByRole("button", { name: /^Reject the mark/ })
      .last()
      .click();
    await page.getByRole("link", { name: "Review 1 waiting" }).waitFor();
    await group.getByRole("button", { name: /^Reject the group/ }).click();
    await confirm(page, "Reject");
    await page.getByText("1 mark was rejected.").waitFor();
    await site.goTo(page, "/log");
    const entry = page.getByRole("row").filter({ hasText: "review.reject" }).first();
    // Readable, with a date.
    expect(await entry.textContent()).to.match(/Since: ?\d/i);
    await entry.getByRole("link", { name: "review.reject" }).click();
    await page.getByRole("heading", { name: /^Decision \d+$/ }).waitFor();
    await page.getByRole("link", { name: "Held marks rejected" }).click();
    await page.getByText("Rejected marks never count: no station has changed.").waitFor();
    expect(await axeFaults(page)).to.deep.equal([]);
    await page.getByRole("link", { name: "All decisions" }).click();
    const row = page.getByRole("row").filter({ hasText: "Held marks rejected" }).first();
    await row.getByRole("button", { name: /^Undo/ }).click();
    expect(await axeFaults(page)).to.deep.equal([]);
    await confirm(page, "Take it back");
    await row.getByText("taken back by olga").waitFor();
    await page.getByRole("row").filter({ hasText: "Rejection taken back" }).first().waitFor();
    await site.goTo(page, "/review");
    await group.waitFor();
    await group.getByRole("button", { name: /^Reject the group/ }).click();
    await confirm(page, "Reject");
    await page.getByText("No marks are held.").waitFor();
    expect(complaints(site.opened)).to.deep.equal([]);
  });

  it("shows what a rollback would change, then exactly that has changed, and it is taken back", async () => {
    const place = site.nextPlace++;
    const { id } = placeOf(place);
    await site.country.meet("good", 26 * 60);
    await site.country.meet("evil", 28 * 60);
    await site.partner.mark(placeOf(place), "good", { status: "yes" });
    await site.partner.mark(placeOf(place), "evil", { status: "queue", queue: "20+" });
    expect(await fuelOf(place)).to.include({ status: "queue" });
    const [evil] = await rows<{ id: number }>(
      site.country.db,
      "select reporter_id as id from marks where station_id = ? and status = 'queue'",
      [id],
    );
    const page = await signIn(`/rollback?reporter=${evil!.id}`);
    await press(page, "Show what would change");
    const row = page.getByRole("row").filter({ hasText: id });
    await row.waitFor();
    const shown = (await row.textContent()) ?? "";
    expect(shown).to.match(/Queue.*→.*Fuel/);
    const map = page.getByRole("img", { name: "Map. 1 station. Queue → Fuel: 1." });
    await map.waitFor();
    const title = map.locator(`[data-station=${id}] title`);
    expect(await title.textContent()).to.equal(`Station ${id}, Brand, Street 1: Queue → Fuel`);
    expect(await axeFaults(page)).to.deep.equal([]);
    expect(await fuelOf(place)).to.include({ status: "queue" });
    await press(page, /^Withdraw 1 mark\b/);
    await confirm(page, "Withdraw");
    await page.getByText("1 mark at 1 station was withdrawn.").waitFor();
    await until(
      () => fuelOf(place),
      ({ status }) => status === "yes",
    );
    await page.getByRole("heading", { name: "What has changed" }).waitFor();
    await map.waitFor();
    await press(page, "Take it back …");
    await confirm(page, "Take it back");
    await page.getByText("was withdrawn, and put back later.").waitFor();
    await until(
      () => fuelOf(place),
      ({ status }) => status === "queue",
    );
  });

  itLong("chooses what a rollback takes by names (decisions 13.24)", async () => {
    const { id } = placeOf(56);
    await rows(
      site.country.db,
      `insert into alarms (kind, subject, hour) values ('marks-held', 'network 5eed5eed', server_now())`,
    );
    await site.partner.mark(placeOf(56), "by-name", { status: "yes" });
    const [known] = await rows<{ id: number }>(
      site.country.db,
      "select reporter_id as id from marks where station_id = ?",
      [id],
    );
    const page = await signIn(`/rollback?station=${id}&network=ABCDEF0123`);
    const field = (name: string) => page.getByRole("combobox", { name });
    const option = (name: string | RegExp) => page.getByRole("option", { name });
    // An address gives ids, the page says names.
    await until(
      () => field("Station").inputValue(),
      (text) => text === `Station ${id} (${id})`,
    );
    expect(await field("Network of the map").inputValue()).to.equal("abcdef0123");
    await field("Network of the map").fill("");
    await option(/^5eed5eed/).click();

    await field("City").fill("тест");
    await option("Тестоград").waitFor();
    expect(await axeFaults(page)).to.deep.equal([]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await field("City").inputValue()).to.equal("Тестоград");

    await field("Station").fill("Street 1 1031");
    await option(/n1031/).click();
    expect(await field("Station").inputValue()).to.equal("Station n1031 (n1031)");

    const key = page.getByLabel("Key", { exact: true });
    expect((await key.locator("option").allTextContents())[1]).to.match(
      /^Test partner, key .+ #1$/,
    );

    await press(page, /choose a reporter/);
    const dialog = page.getByRole("dialog", { name: "Choose a reporter" });
    await dialog.getByRole("combobox", { name: "Station that it marked" }).fill(id);
    await option(new RegExp(id)).click();
    await dialog.getByRole("button", { name: `reporter #${known!.id}` }).waitFor();
    expect(await axeFaults(page)).to.deep.equal([]);
    await dialog.getByLabel("Where the person marks").selectOption(String(site.country.partnerId));
    await dialog.getByLabel("The partner’s user_ref").fill("by-name");
    await dialog.getByRole("button", { name: "Find" }).click();
    await dialog.getByRole("button", { name: `Choose #${known!.id}` }).click();
    await page.getByText(`#${known!.id}, first seen`).waitFor();

    const sent = page.waitForRequest(/rollback\/preview/);
    await press(page, "Show what would change");
    const { since: _, ...conditions } = (await sent).postDataJSON() as Record<string, unknown>;
    expect(conditions).to.deep.equal({
      ...{ reporter: known!.id, station: "n1031", city: "Тестоград", network: "5eed5eed" },
    });
  });

  itLong("sends no rollback's conditions while a name in them stands for nothing", async () => {
    const page = await signIn("/rollback");
    const city = page.getByRole("combobox", { name: "City" });
    await city.fill("Atlantis");
    await page.getByText("Nothing fits.").waitFor();
    await press(page, "Show what would change");
    await city.and(page.locator("[aria-invalid=true]:invalid")).waitFor();
    expect(site.opened.requests.some((url) => url.includes("preview"))).to.equal(false);
    // What names one thing is taken as it was typed.
    await city.fill("тестоград");
    await press(page, "Show what would change");
    await page.getByRole("heading", { name: "What would change" }).waitFor();
    expect(await city.inputValue()).to.equal("Тестоград");
  });
});
