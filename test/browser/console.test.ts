import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { Secret, TOTP } from "otpauth";
import { rows } from "#src/infrastructure/db.ts";
import { decideBatch } from "#src/marks/batches.ts";
import { enableTotp } from "#src/operators/accounts.ts";
import { isNotDone } from "#src/operators/act.ts";
import { issueConsumerKey } from "#src/keys/consumer-key.ts";
import { editStation } from "#src/stations/edit-station.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";
import { fillReview, holdMark } from "#test/flow/held-marks.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import {
  axeFaults,
  fitsWidth,
  openBrowser,
  type OpenedPage,
  openPage,
} from "#test/harness/browser.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { windowsOf, windowsTried } from "#test/harness/long.ts";

describe("browser: console", function () {
  let browser: Browser;
  let instance: TestInstance;
  let country: Country;
  let web: RunningRole;
  let marks: RunningRole;
  let partner: Client;
  let opened: OpenedPage;
  let nextPlace: number;

  before(async function () {
    browser = await openBrowser(this);
    instance = await createTestInstance({ SIGN_INS_PER_MINUTE: "1000" });
    country = await openCountry(instance.config, 60);
    [web, marks] = await Promise.all([
      startRole("web", instance.env),
      startRole("marks", instance.env),
    ]);
    partner = createClient(web.baseUrl, country.secret);
    await addOperator(country.db, "olga", "operator");
    await addOperator(country.db, "vera", "viewer");
    nextPlace = await fillReview(partner, 0);
  });
  after(async () => {
    await Promise.all([web, marks].map((role) => role?.stop()));
    await country?.close();
    await instance?.drop();
    await browser?.close();
  });
  beforeEach(async () => {
    opened = await openPage(browser);
  });
  afterEach(() => opened.close());

  /** But for the 401 by which a page learns that nobody is signed in. */
  const complaints = (view: OpenedPage): string[] =>
    view.complaints.filter((one) => !one.includes("401"));
  const goTo = (page: Page, path: string) => page.goto(`${web.baseUrl}/console/#${path}`);
  const signIn = async (path = "/", name = "olga", view: OpenedPage = opened): Promise<Page> => {
    const { page } = view;
    await goTo(page, path);
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Password").fill(testPassword);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("navigation", { name: "Console" }).waitFor();
    return page;
  };
  const press = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).click();
  const confirm = (page: Page, name: string) =>
    page.getByRole("dialog").getByRole("button", { name }).click();
  const fuelOf = async (n: number) =>
    (await partner.get(`/stations/${placeOf(n).id}`)).body.station.fuel;

  it("says that a password is wrong, and lets nobody in", async () => {
    const { page } = opened;
    await goTo(page, "/partners");
    await page.getByLabel("Name").fill("olga");
    await page.getByLabel("Password").fill("not her password");
    await press(page, "Sign in");
    await page.getByRole("alert").getByText("No account has this name").waitFor();
    expect(await page.getByRole("navigation").count()).to.equal(0);
  });

  it("asks for a code of an account with TOTP, once the password is right", async () => {
    const { name } = await addOperator(country.db, "tanya", "viewer");
    const { secret } = (await enableTotp(
      country.db,
      "root",
      name,
      instance.config.reporterPepper,
    )) as { secret: string };
    const { page } = opened;
    await goTo(page, "/");
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Password").fill(testPassword);
    expect(await page.getByLabel("Code").count()).to.equal(0);
    await press(page, "Sign in");
    await page.getByRole("alert").getByText("Enter the code").waitFor();
    expect(await axeFaults(page)).to.deep.equal([]);
    await page.getByLabel("Code").fill(TOTP.generate({ secret: Secret.fromBase32(secret) }));
    await press(page, "Sign in");
    await page.getByRole("navigation", { name: "Console" }).waitFor();
    expect(complaints(opened)).to.deep.equal([]);
  });

  it("shows open alarms, and has them acknowledged one by one and together", async () => {
    await rows(
      country.db,
      `insert into alarms (kind, subject, city, hour, details)
       select 'marks-held', 'partner ' || n, 'Тестоград', server_now(), '{"limit": 20}' from generate_series(1, 3) n`,
    );
    const page = await signIn();
    const table = page.getByRole("table", { name: "Open alarms" });
    await table.getByText("partner 2, Тестоград").waitFor();
    await table.getByText("limit 20").first().waitFor();
    expect(await axeFaults(page)).to.deep.equal([]);
    await table
      .getByRole("row", { name: "partner 2" })
      .getByRole("button", { name: "Acknowledge" })
      .click();
    await table.getByText("partner 2, Тестоград").waitFor({ state: "detached" });
    await press(page, "Acknowledge all");
    await page.getByText("No open alarms.").waitFor();
    expect(complaints(opened)).to.deep.equal([]);
  });

  it("approves a limit request: the partner's headers show the new limits", async () => {
    const { secret } = await addPartner(country, { rpm: 700, daily: 5000 });
    const client = createClient(web.baseUrl, secret);
    const asked = { requested_rpm: 1500, requested_daily: 90_000, comment: "Новый город" };
    expect((await client.post("/limit-requests", asked)).status).to.equal(201);
    const page = await signIn("/limit-requests");
    await page.getByText("Новый город").waitFor();
    await press(page, "Approve what Another partner asks for");
    await page.locator(".decided p", { hasText: "New limits for Another partner" }).waitFor();
    const answer = await until(
      () => client.get("/cities"),
      ({ headers }) => headers.get("x-ratelimit-limit") === "1500",
    );
    expect(answer.headers.get("x-ratelimit-daily-limit")).to.equal("90000");
  });

  it("rejects a limit request at once, with a comment, and Undo brings it back", async () => {
    const { secret } = await addPartner(country, { rpm: 700, daily: 5000 });
    const client = createClient(web.baseUrl, secret);
    await client.post("/limit-requests", { requested_rpm: 8000, requested_daily: 90_000 });
    const requestOf = async () => (await client.get("/limit-requests")).body.requests[0];
    const page = await signIn("/limit-requests");
    await page.getByLabel("Comment for the partner").fill("Use the dump");
    await press(page, "Reject the request of Another partner");
    const undo = page.getByRole("button", { name: "Undo Request of Another partner rejected" });
    await undo.waitFor();
    expect(await page.getByRole("dialog").count()).to.equal(0);
    expect(await requestOf()).to.include({ status: "rejected", decision_comment: "Use the dump" });
    // The focus is where the card was, so that the next Tab is on the way back.
    await page.keyboard.press("Tab");
    await page.locator(".decided button:focus").waitFor();
    expect(await axeFaults(page)).to.deep.equal([]);
    await page.keyboard.press("Enter");
    await page.getByText("The decision was taken back").waitFor();
    expect(await requestOf()).to.include({ status: "pending", decision_comment: "" });
    await press(page, "Approve what Another partner asks for");
    const undoApproval = page.getByRole("button", {
      name: "Undo New limits for Another partner approved",
    });
    await undoApproval.waitFor();
    const [request] = await rows<{ id: number }>(
      country.db,
      "select max(id) as id from limit_requests where status = 'approved'",
    );
    await rows(
      country.db,
      "update partners set rpm = 800 where id = (select partner_id from limit_requests where id = ?)",
      [request!.id],
    );
    await undoApproval.click();
    await page
      .getByRole("alert")
      .getByText(`Limit request ${request!.id} gave limits that were changed since`)
      .waitFor();
    expect(await requestOf()).to.include({ status: "approved" });
  });

  it("gives other limits than asked for, with a comment for the partner", async () => {
    const { secret } = await addPartner(country, { rpm: 700, daily: 5000 });
    const client = createClient(web.baseUrl, secret);
    await client.post("/limit-requests", { requested_rpm: 9000, requested_daily: 90_000 });
    const page = await signIn("/limit-requests");
    await press(page, "Other limits …");
    await page.getByLabel("Requests per minute").fill("900");
    await page.getByRole("dialog").getByLabel("Comment for the partner").fill("Half for now");
    await confirm(page, "Approve these");
    await page.getByText("No pending requests.").waitFor();
    const [request] = (await client.get("/limit-requests")).body.requests;
    expect(request).to.include({ status: "approved", decision_comment: "Half for now" });
    const answer = await until(
      () => client.get("/cities"),
      ({ headers }) => headers.get("x-ratelimit-limit") === "900",
    );
    expect(answer.status).to.equal(200);
  });

  it("issues a second key, shown once, and revokes the first: its dashboard is closed", async () => {
    const { id, secret } = await addPartner(country);
    const dashboard = await openPage(browser);
    await dashboard.page.goto(`${web.baseUrl}/dashboard/`);
    await dashboard.page.getByLabel("Secret key").fill(secret);
    await press(dashboard.page, "Sign in");
    await dashboard.page.getByRole("heading", { name: "Today" }).waitFor();

    const page = await signIn(`/partners/${id}`);
    await press(page, "Issue a key");
    await page.getByLabel("Note for yourself").fill("after rotation");
    await confirm(page, "Issue it");
    const second = (await page.locator(".issued code").textContent()) ?? "";
    expect(second).to.match(/^svc_live_\w{49}$/);
    const client = createClient(web.baseUrl, second);
    expect((await client.get("/cities")).status).to.equal(200);
    await page.reload();
    await page.getByText("after rotation").waitFor();
    expect(await page.content()).not.to.include(second);

    const [first] = await rows<{ id: number }>(
      country.db,
      "select min(id) as id from keys where partner_id = ?",
      [id],
    );
    await press(page, `Revoke key ${first!.id}`);
    await confirm(page, "Revoke");
    await page.getByText(`Key ${first!.id} was revoked`).waitFor();
    await until(
      () => createClient(web.baseUrl, secret).get("/cities"),
      ({ status }) => status === 401,
    );
    expect((await client.get("/cities")).status).to.equal(200);
    await dashboard.page.reload();
    await dashboard.page.getByLabel("Secret key").waitFor();
    await dashboard.close();
  });

  it("asks before it shuts a partner out, and then every request is refused", async () => {
    const { id, secret } = await addPartner(country);
    const page = await signIn(`/partners/${id}`);
    await page.getByLabel("Access is on").uncheck();
    await press(page, "Save");
    await page.getByRole("dialog").getByText("get 403 within 15 seconds").waitFor();
    await confirm(page, "Block");
    await page.getByText("Saved, takes effect within 15 s").waitFor();
    const refused = await until(
      () => createClient(web.baseUrl, secret).get("/cities"),
      ({ status }) => status === 403,
    );
    expect(refused.body.type).to.match(/\/partner-disabled$/);
  });

  it("approves one held mark and rejects another, and the stations follow", async () => {
    const [yes, no] = [nextPlace++, nextPlace++];
    const approved = await holdMark(partner, yes);
    const rejected = await holdMark(partner, no);
    expect(await fuelOf(yes)).to.include({ pending_status: "" });
    const page = await signIn("/review");
    await press(page, new RegExp(`^Approve the mark at Station ${placeOf(yes).id}`));
    await page.locator(".decided p").getByText("was approved.").waitFor();
    await press(page, new RegExp(`^Reject the mark at Station ${placeOf(no).id}`));
    await page.getByText("No marks are held.").waitFor();
    expect(await page.getByRole("dialog").count()).to.equal(0);
    await until(
      () => fuelOf(yes),
      ({ pending_status: pending }) => pending === "no",
    );
    expect(await fuelOf(no)).to.include({ status: "nodata", pending_status: "" });
    const sql = "select id, review from marks where id = any(?::bigint[]) order by id";
    expect(await rows(country.db, sql, [[approved, rejected]])).to.deep.equal([
      { id: Number(approved), review: "approved" },
      { id: Number(rejected), review: "rejected" },
    ]);
  });

  it("brings a mark that was decided by mistake back into its place", async () => {
    const place = nextPlace++;
    const id = await holdMark(partner, place);
    const page = await signIn("/review");
    const title = `the mark at Station ${placeOf(place).id}`;
    const counts = async (): Promise<boolean> => {
      const { status, pending_status: pending } = await fuelOf(place);
      return status === "no" || pending === "no";
    };
    await press(page, new RegExp(`^Approve ${title}`));
    await until(counts, (does) => does);
    await page.locator(".decided").waitFor();
    expect(await axeFaults(page)).to.deep.equal([]);
    await press(page, /^Undo/);
    await page.getByRole("button", { name: new RegExp(`^Reject ${title}`) }).waitFor();
    await until(counts, (does) => !does);
    // Somebody else is faster: nothing is said to be done that was not.
    await rows(country.db, "update marks set review = 'rejected' where id = ?", [id]);
    await press(page, new RegExp(`^Approve ${title}`));
    await page.getByText("1 mark was decided by somebody else before").waitFor();
    expect(await page.locator(".decided").count()).to.equal(0);
  });

  it("decides many held marks together", async () => {
    const held = [nextPlace++, nextPlace++, nextPlace++];
    for (const place of held) await holdMark(partner, place);
    const page = await signIn("/review");
    await press(page, "Select all 3");
    await press(page, "Reject 3 selected");
    await confirm(page, "Reject");
    await page.getByText("3 marks were rejected").waitFor();
    await page.getByText("No marks are held.").waitFor();
  });

  it("decides a group of held marks by the keyboard, and takes that back", async () => {
    for (const place of [nextPlace++, nextPlace++]) await holdMark(partner, place);
    // Of one hour, also when it has just turned.
    const first = "(select min(received_at) from marks where review = 'held')";
    await rows(country.db, `update marks set received_at = ${first} where review = 'held'`);
    const page = await signIn("/review");
    const group = page.getByRole("article").filter({ hasText: "2 × no fuel" });
    await group.waitFor();
    await group.getByRole("button", { name: "What would change" }).click();
    await group.getByRole("img", { name: /^Map\. 2 stations\./ }).waitFor();
    // The bundled land is under them, from this server.
    await group.locator(".changes-map .land").first().waitFor({ state: "attached" });
    expect(await axeFaults(page)).to.deep.equal([]);
    expect(complaints(opened)).to.deep.equal([]);
    await page.keyboard.press("r");
    await confirm(page, "Reject");
    await page.getByText("2 marks were rejected.").waitFor();
    await page.getByText("No marks are held.").waitFor();
    await press(page, "Take back");
    await group.waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("a");
    await confirm(page, "Approve");
    await page.getByText("2 marks were approved.").waitFor();
    await page.getByText("No marks are held.").waitFor();
  });

  it("shows what a rollback would change, then exactly that has changed, and it is taken back", async () => {
    const place = nextPlace++;
    const { id } = placeOf(place);
    await country.meet("good", 26 * 60);
    await country.meet("evil", 28 * 60);
    await partner.mark(placeOf(place), "good", { status: "yes" });
    await partner.mark(placeOf(place), "evil", { status: "queue", queue: "20+" });
    expect(await fuelOf(place)).to.include({ status: "queue" });
    const [evil] = await rows<{ id: number }>(
      country.db,
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
    await press(page, /^Withdraw 1 marks/);
    await confirm(page, "Withdraw");
    await page.getByText("1 marks at 1 stations were withdrawn.").waitFor();
    await until(
      () => fuelOf(place),
      ({ status }) => status === "yes",
    );
    await page.getByRole("heading", { name: "What has changed" }).waitFor();
    await map.waitFor();
    await press(page, "Take back");
    await confirm(page, "Take back");
    await page.getByText("were withdrawn, and put back later.").waitFor();
    await until(
      () => fuelOf(place),
      ({ status }) => status === "queue",
    );
  });

  it("chooses what a rollback takes by names (docs/decisions.md 13.24)", async () => {
    const { id } = placeOf(56);
    await rows(
      country.db,
      `insert into alarms (kind, subject, hour) values ('marks-held', 'network 5eed5eed', server_now())`,
    );
    await partner.mark(placeOf(56), "by-name", { status: "yes" });
    const [known] = await rows<{ id: number }>(
      country.db,
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
    await dialog.getByLabel("Where the person marks").selectOption(String(country.partnerId));
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

  it("sends no rollback's conditions while a name in them stands for nothing", async () => {
    const page = await signIn("/rollback");
    const city = page.getByRole("combobox", { name: "City" });
    await city.fill("Atlantis");
    await page.getByText("Nothing fits.").waitFor();
    await press(page, "Show what would change");
    await city.and(page.locator("[aria-invalid=true]:invalid")).waitFor();
    expect(opened.requests.some((url) => url.includes("preview"))).to.equal(false);
    // What names one thing is taken as it was typed.
    await city.fill("тестоград");
    await press(page, "Show what would change");
    await page.getByRole("heading", { name: "What would change" }).waitFor();
    expect(await city.inputValue()).to.equal("Тестоград");
  });

  it("exports what is kept of a person, then erases it", async () => {
    const place = nextPlace++;
    await partner.mark(placeOf(place), "asks for it", { status: "yes", text: "all well" });
    const page = await signIn("/people");
    await page.getByLabel("Where the person marks").selectOption(String(country.partnerId));
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

  it("says why a station shows what it shows", async () => {
    const place = nextPlace++;
    const { id } = placeOf(place);
    // Known for more than a week, so that no limit of the review concerns them.
    await country.meet("first", 9 * 24 * 60);
    await country.meet("second", 10 * 24 * 60);
    await partner.mark(placeOf(place), "first", { status: "low" });
    const far = { ...placeOf(place), lat: 50 };
    await partner.mark(far, "second", { status: "no" });
    const page = await signIn("/stations");
    await page.getByLabel("Search by id, name, brand or address").fill(`Station ${id}`);
    await page.getByRole("link", { name: `Station ${id}` }).click();
    await page.getByText("1 device of 1 needed, so it was published.").waitFor();
    const why = page.getByText(/sent without a position at the station\): 1 device of 2 needed/);
    await why.waitFor();
    await page.getByRole("cell", { name: "pending" }).waitFor();
  });

  it("finds pages, partners, keys and stations by Ctrl-K, and gives the focus back", async () => {
    const { id, secret } = await addPartner(country);
    await rows(country.db, "update partners set name = 'Bensin Nord' where id = ?", [id]);
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
    expect(opened.requests.filter((url) => url.includes(secret.slice(0, 16)))).to.deep.equal([]);

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
    expect(complaints(opened)).to.deep.equal([]);
  });

  it("opens what was typed even when Enter comes before the answer, and nothing over a question", async () => {
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
    const { id } = await addPartner(country);
    await goTo(page, `/partners/${id}`);
    await press(page, "Issue a key");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Control+k");
    expect(await page.getByRole("combobox", { name: "Find a page" }).count()).to.equal(0);
  });

  it("shows a viewer everything and no button that changes something", async () => {
    const { id } = await addPartner(country);
    await holdMark(partner, nextPlace++);
    const page = await signIn(`/partners/${id}`, "vera");
    await page.getByText("Limits and switches").waitFor();
    for (const name of ["Issue a key", "Save", /^Revoke/])
      expect(await page.getByRole("button", { name }).count()).to.equal(0);
    expect(await page.getByLabel("Requests per minute").isDisabled()).to.equal(true);
    await goTo(page, "/review");
    await page.getByText("1 held", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: /Approve|Reject/ }).count()).to.equal(0);
  });

  it("goes back to signing in when the session is ended elsewhere, and comes back to the same page", async () => {
    const page = await signIn("/log");
    await page.getByText("console.sign-in").first().waitFor();
    await rows(country.db, "update sessions set ended_at = server_now() where ended_at is null");
    await press(page, "Filter");
    await page.getByLabel("Password").waitFor();
    await page.getByLabel("Name").fill("olga");
    await page.getByLabel("Password").fill(testPassword);
    await press(page, "Sign in");
    await page.getByRole("heading", { name: "Log" }).waitFor();
  });

  it("tries a file of stations, then imports it, and shows what it did", async () => {
    const node = {
      type: "node",
      id: 77,
      lat: 60,
      lon: 30,
      tags: { amenity: "fuel", name: "North" },
    };
    const page = await signIn("/imports");
    await page.getByLabel("File", { exact: true }).setInputFiles({
      name: "north.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({ elements: [node] })),
    });
    const name = page.getByLabel("Name of the source");
    await name.fill("north and south");
    await press(page, "Dry run, change nothing");
    await page.getByRole("alert").getByText("letters a-z, digits, - and _").waitFor();
    await name.fill("");
    await press(page, "Dry run, change nothing");
    const row = page.getByRole("row").filter({ hasText: "north.json" });
    await row.getByText("added 1").waitFor();
    expect((await partner.get("/stations/n77")).status).to.equal(404);
    // A tick for stations does not go along, unseen, with statuses.
    await page.getByLabel("Take everything out of service that is not in the file").check();
    await page.getByLabel("Content").selectOption("statuses");
    await press(page, "Import it …");
    await page.getByRole("dialog").getByText("Make a dry run first").waitFor();
    await press(page, "Cancel");
    await page.getByLabel("Content").selectOption("stations");
    await page.getByLabel("Take everything out of service that is not in the file").uncheck();
    await press(page, "Import it …");
    await confirm(page, "Import it");
    await row.filter({ hasNotText: "dry run" }).getByText("added 1").waitFor();
    await until(
      () => partner.get("/stations/n77"),
      ({ status }) => status === 200,
    );
  });

  it("corrects a station, shows it on its map (docs/decisions.md 13.18), closes and reopens it", async () => {
    const { id, lat, lon } = placeOf(59);
    await issueConsumerKey(country.db, instance.config);
    const page = await signIn(`/stations/${id}`);
    await page.getByRole("heading", { level: 1, name: `Station ${id}` }).waitFor();
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("АЗС 5");
    await page.getByLabel("Latitude").fill(`${lat + 0.01}, ${lon}`);
    const changes = page.locator(".changes");
    await changes.getByText(`Station ${id} → АЗС 5`).waitFor();
    await changes.getByText("1.1 km away").waitFor();
    // Somebody else was faster: what is typed is not lost, and nothing is overwritten.
    await editStation(country.db, "vera", id, { name: "Another" });
    await press(page, "Save");
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
      () => partner.get(`/stations/${id}`),
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
    expect(await axeFaults(page)).to.deep.equal([]);
    await confirm(page, "Close it");
    await page.getByText("closed by hand").waitFor();
    await until(
      () => partner.get(`/stations/${id}`),
      ({ status }) => status === 404,
    );
    await press(page, "Reopen it …");
    await confirm(page, "Reopen it");
    await page.getByText("closed by hand").waitFor({ state: "detached" });
    // The refused save is the one complaint: a 422 that the page shows.
    expect(complaints(opened).filter((one) => !one.includes("422"))).to.deep.equal([]);
    const log = await rows(
      country.db,
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

  it("shows a viewer a station's facts, and no button that changes them", async () => {
    const page = await signIn(`/stations/${placeOf(58).id}`, "vera");
    await page.getByLabel("Latitude").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).isDisabled()).to.equal(true);
    expect(await page.getByRole("button", { name: /Save|Close it/ }).count()).to.equal(0);
  });

  it("opens the queues under the console's session", async () => {
    const page = await signIn();
    await page.getByRole("link", { name: "Queues" }).click();
    await page
      .getByRole("link", { name: /snapshots/ })
      .first()
      .waitFor();
    expect(complaints(opened)).to.deep.equal([]);
    const foreign = opened.requests.filter((url) => !url.startsWith(web.baseUrl));
    expect(foreign).to.deep.equal([]);
  });

  describe("on any window, light and dark", () => {
    let paths: (readonly [path: string, title: string])[];

    before(async () => {
      const { id } = await addPartner(country);
      const { secret } = await addPartner(country, { rpm: 700, daily: 5000 });
      await createClient(web.baseUrl, secret).post("/limit-requests", {
        requested_rpm: 1500,
        requested_daily: 90_000,
        comment: "x".repeat(300),
      });
      await holdMark(partner, nextPlace++);
      const withdrawn = nextPlace++;
      await holdMark(partner, withdrawn);
      const station = placeOf(withdrawn).id;
      const done = await decideBatch(country.db, "olga", "rollback", { station }, () => undefined);
      const rollback = isNotDone(done) ? null : done.id;
      paths = [
        ["/", "Overview"],
        ["/partners", "Partners"],
        [`/partners/${id}`, "Another partner"],
        ["/limit-requests", "Limit requests"],
        ["/review", "Review"],
        ["/rollback", "Rollback"],
        [`/rollback/${rollback}`, `Rollback #${rollback}`],
        ["/people", "Privacy"],
        ["/stations", "Stations"],
        [`/stations/${placeOf(0).id}`, "Station"],
        ["/imports", "Imports"],
        ["/log", "Log"],
        ["/sessions", "Sessions"],
      ];
    });

    for (const window of windowsTried) {
      const [width, dark] = window;
      const what = `${width} px wide, ${dark ? "dark" : "light"}`;
      it(`has no fault that axe finds, fits, and asks no other host: ${what}`, async () => {
        const view = await openPage(browser, { width, dark });
        await goTo(view.page, "/");
        await view.page.getByLabel("Name").waitFor();
        expect(await axeFaults(view.page), "sign-in").to.deep.equal([]);
        const page = await signIn("/", "olga", view);
        const here = paths.filter((_, n) => windowsOf(n).includes(window));
        for (const [path, title] of here) {
          await goTo(page, path);
          await page.getByRole("heading", { level: 1, name: title }).waitFor();
          await page.locator(".skeleton").waitFor({ state: "detached" });
          expect(await axeFaults(page), path).to.deep.equal([]);
          expect(await fitsWidth(page), path).to.equal(true);
        }
        await press(page, "Find");
        await page.getByRole("combobox", { name: "Find a page" }).fill("a");
        await page.getByRole("group", { name: "Stations" }).waitFor();
        expect(await axeFaults(page), "palette").to.deep.equal([]);
        expect(await fitsWidth(page), "palette").to.equal(true);
        const foreign = view.requests.filter((url) => !url.startsWith(web.baseUrl));
        expect(foreign).to.deep.equal([]);
        expect(complaints(view)).to.deep.equal([]);
        await view.close();
      });
    }
  });
});
