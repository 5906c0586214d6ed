import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { holdMark } from "#test/flow/held-marks.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { fitsWidth, isClean } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";
import { useConsole } from "#test/browser/console-site.ts";

describe("browser: console, what it asks before an extreme act", function () {
  const site = useConsole();
  const { signIn, press, confirm, complaints } = site;

  itLong("marks the decision that others' marks speak for, and asks before the other", async () => {
    const place = site.nextPlace++;
    const { secret } = await addPartner(site.country);
    const others = createClient(site.web.baseUrl, secret);
    for (const user of ["a", "b", "c"]) await others.mark(placeOf(place), user, { status: "yes" });
    await holdMark(site.partner, place);
    const page = await signIn("/review");
    const group = page.getByRole("article").filter({ hasText: "1 × no fuel" }).first();
    await group.getByText("0 agree, 3 do not.").waitFor();
    await group
      .getByText("New reporters: 1 of 1. Exactly at the station’s point: 1 of 1.")
      .waitFor();
    const approve = group.getByRole("button", { name: /^Approve the group/ });
    const reject = group.getByRole("button", { name: /^Reject the group/ });
    expect(await approve.getAttribute("class")).not.to.include("primary");
    expect(await reject.getAttribute("class")).to.include("primary");
    await approve.click();
    await page.getByText("3 of 3 marks of others speak against it.").waitFor();
    await confirm(page, "Cancel");
    await reject.click();
    expect(await page.getByText("speak against it").count()).to.equal(0);
    await confirm(page, "Reject");
    await page.getByText("No marks are held.").waitFor();
  });

  itLong("asks before limits below the use, by a request and by hand", async () => {
    const { id, secret } = await addPartner(site.country, { rpm: 700, daily: 5000 });
    await rows(
      site.country.db,
      `insert into usage_days values (?, current_date, 'partner', 'GET /stations', 240, 0, 0)`,
      [id],
    );
    const asked = { requested_rpm: 1500, requested_daily: 30, comment: "typo" };
    await createClient(site.web.baseUrl, secret).post("/limit-requests", asked);
    const limits = async (): Promise<object> =>
      (await rows(site.country.db, "select rpm, daily from partners where id = ?", [id]))[0]!;
    const page = await signIn("/limit-requests");
    await press(page, "Approve what Another partner asks for");
    const question = page.getByRole("dialog", { name: "Approve limits below the use?" });
    await question.getByText(/30 a day is below its busiest day: 24\d\./).waitFor();
    await isClean(page);
    await confirm(page, "Cancel");
    expect(await limits()).to.deep.equal({ rpm: 700, daily: 5000 });
    await press(page, "Approve what Another partner asks for");
    await confirm(page, "Approve");
    await page.locator(".decided").waitFor();
    expect(await limits()).to.deep.equal({ rpm: 1500, daily: 30 });

    await site.goTo(page, `/partners/${id}`);
    await page.getByLabel("Requests per day", { exact: true }).fill("20");
    await press(page, "Save");
    await page.getByText(/20 a day is below its busiest day: 24\d\./).waitFor();
    await confirm(page, "Save");
    await until(limits, (now) => JSON.stringify(now) === JSON.stringify({ rpm: 1500, daily: 20 }));
  });

  itLong("reads the log further back, part by part, and anew by another filter", async () => {
    await rows(
      site.country.db,
      "insert into operator_log (actor, action, subject) select 'olga', 'key.revoke', 'old ' || n from generate_series(1, 250) n",
    );
    const page = await signIn("/log");
    await page.getByLabel("Action").fill("key.revoke");
    await press(page, "Filter");
    const older = page.getByRole("button", { name: "Load older entries" });
    await page.getByText("old 250", { exact: true }).waitFor();
    for (const shown of [100, 200]) {
      await page.getByText(`1–50 of ${shown}`).waitFor();
      await older.click();
    }
    await page.getByText("1–50 of 250").waitFor();
    expect(await older.count()).to.equal(0);
    await page.getByLabel("Subject").fill("old 7");
    await press(page, "Filter");
    await page.getByText("old 7", { exact: true }).waitFor();
    expect(await page.getByText("old 250", { exact: true }).count()).to.equal(0);
  });

  itLong("asks before a key that no website can use", async () => {
    const page = await signIn("/partners/1");
    await press(page, "Issue a key");
    await page.getByLabel("Kind").selectOption("publishable");
    await confirm(page, "Issue it");
    const question = page.getByRole("dialog", { name: "A key without a domain?" });
    await question.getByText(/^It has 0 domains/).waitFor();
    await isClean(page);
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.getByLabel("Domains, with their subdomains").fill("maps.example");
    await confirm(page, "Issue it");
    await page.getByText("Save this key now.").waitFor();
  });

  itLong("moves a station by its pin, and asks with the marks' places when it is far", async () => {
    const { id, lat, lon } = placeOf(58);
    await site.partner.mark(placeOf(58), "at the station", { status: "yes" });
    const page = await signIn(`/stations/${id}`);
    const pin = page.locator(".pin-map .movable");
    const drag = async (dx: number): Promise<void> => {
      await pin.scrollIntoViewIfNeeded();
      const { x, y, width, height } = (await pin.boundingBox())!;
      await page.mouse.move(x + width / 2, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + width / 2 + dx, y + height / 2, { steps: 4 });
      await page.mouse.up();
    };
    await drag(100);
    await page
      .locator(".changes")
      .getByText(/^\d{3} m away$/)
      .waitFor();
    await isClean(page);
    await press(page, "Save");
    await page.getByText("Saved, served at once").waitFor();
    const served = async (): Promise<number> =>
      (await site.partner.get(`/stations/${id}`)).body.station.lon;
    await until(served, (now) => now > lon + 0.001);
    // One digit.
    await page.getByLabel("Latitude").fill(String(lat + 5));
    await press(page, "Save");
    await page.getByRole("dialog", { name: "Move the station by 556 km?" }).waitFor();
    await page
      .getByText(
        "Of its latest marks 1 was made within 500 m of where it is, 0 within 500 m of the new place.",
      )
      .waitFor();
    await confirm(page, "Cancel");
    await press(page, "Discard");
    await page.setViewportSize({ width: 320, height: 800 });
    // The maps follow the page's width a moment later.
    await until(
      () => fitsWidth(page),
      (fits) => fits,
    );
    expect(complaints(site.opened)).to.deep.equal([]);
  });
});
