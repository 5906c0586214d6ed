import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { rows } from "#src/infrastructure/db.ts";
import { englishLeft } from "#test/browser/english-left.ts";
import { addKey } from "#test/api/edge.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { addPartner, type OtherPartner } from "#test/flow/more-partners.ts";
import {
  fitsWidth,
  isClean,
  openPage,
  press,
  useBrowser,
  type OpenedPage,
} from "#test/harness/browser.ts";
import { runOperator } from "#test/harness/operator.ts";
import { itLong, sized, windowsTried } from "#test/harness/long.ts";
import { russian } from "#web/dashboard/russian.ts";
import { russian as ofKit } from "#web/kit/russian.ts";
import { useStage } from "#test/flow/stage.ts";

describe("browser: dashboard", function () {
  const settings = { SIGN_INS_PER_MINUTE: "1000" };
  const { instance, country, web } = useStage(5, ["web", "marks"], settings);
  let opened: OpenedPage;
  let partner: OtherPartner;

  useBrowser();
  beforeEach(async () => {
    partner = await addPartner(country, { rpm: 600, daily: 5000 });
    opened = await openPage();
  });

  const open = (page: Page) => page.goto(`${web.baseUrl}/dashboard`);
  const signIn = async ({ page } = opened, key = partner.secret): Promise<Page> => {
    await open(page);
    await page.getByLabel("Secret key").fill(key);
    await page.getByRole("button", { name: "Sign in" }).click();
    // What it says below its figures: they are there.
    await part(page, "Today").getByText("updated every 15 s").waitFor();
    return page;
  };
  const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
  const tab = (page: Page, part: string) => page.locator(`nav.parts a[href="#/${part}"]`).click();
  /** Requests, marks, decisions and keys: every part of the page has something to show. */
  const live = async (): Promise<void> => {
    const api = createClient(web.baseUrl, partner.secret);
    await Promise.all(Array.from({ length: 12 }, () => api.get("/cities")));
    await api.get("/stations");
    await api.mark(placeOf(0), "one", { status: "yes" });
    await api.mark({ ...placeOf(1), lat: 10 }, "two", { status: "queue" });
    await api.get("/stations");
    await api.get("/nowhere");
    await api.mark(placeOf(1), "three", { status: "perhaps" });
    const used =
      "insert into usage_days select ?, current_date - n, ?, m, 40 + 10 * n + length(m), 5, n from generate_series(1, 6) n, unnest(?::text[]) m";
    const methods = [
      "GET /stations",
      "GET /stations/delta",
      "GET /stations/all",
      "GET /usage",
      "POST /stations/{station_id}/report",
      "GET /limit-requests",
      "GET /stations/{station_id}",
    ];
    await rows(country.db, used, [partner.id, "partner", methods]);
    await rows(country.db, used, [partner.id, "widget", ["GET /stations"]]);
    await rows(
      country.db,
      "insert into usage_hours select ?, date_trunc('hour', now()) - n * interval '1 hour', 'partner', 10 + n, 20 * n, n from generate_series(1, 30) n",
      [partner.id],
    );
    await rows(
      country.db,
      "update marks set review = 'held', held_reason = 'city' where partner_id = ? and status = 'queue'",
      [partner.id],
    );
    await rows(
      country.db,
      "insert into limit_requests (partner_id, status, requested_rpm, requested_daily, comment, decided_at, decision_comment) select ?, 'rejected', 700 + n, 9000, '', server_now(), 'Please tell us what for.' from generate_series(1, 12) n",
      [partner.id],
    );
    await addKey(country.db, partner.id, "publishable", {
      label: "shop",
      domains: ["shop.example", "a-rather-long-name.of-a-partner.example"],
    });
    await addKey(country.db, partner.id, "secret", { label: "old server", revoked_at: new Date() });
  };
  /** Old enough to be replaced. */
  const makeKeysOld = () =>
    rows(
      country.db,
      "update keys set created_at = created_at - interval '2 days' where partner_id = ?",
      [partner.id],
    );

  it("lets a partner in with a secret key, which then is nowhere in the browser", async () => {
    const page = await signIn();
    await page.reload();
    await page.getByText("Another partner", { exact: true }).waitFor();
    const state = await page.context().storageState();
    expect(JSON.stringify(state)).not.to.include(partner.secret);
    expect(await page.evaluate<string>("document.cookie")).to.equal("");
    expect(await page.evaluate<string>("document.body.innerHTML")).not.to.include(partner.secret);
    const { cookies } = state;
    expect(cookies.map(({ httpOnly, sameSite, path }) => [httpOnly, sameSite, path])).to.deep.equal(
      [[true, "Strict", "/dashboard/"]],
    );
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out.").waitFor();
    await page.reload();
    await page.getByLabel("Secret key").waitFor();
  });

  itLong("says why a key is refused, and keeps the field ready", async () => {
    const { page } = opened;
    await open(page);
    for (const [key, words] of [
      ["svc_live_wrong", /copied whole/],
      [partner.publishable, /Sign in with a secret key/],
    ] as const) {
      await page.getByLabel("Secret key").fill(key);
      await page.keyboard.press("Enter");
      await page.getByRole("alert").filter({ hasText: words }).waitFor();
      expect(await page.evaluate<string>("document.activeElement.id")).to.equal("key");
    }
  });

  itLong("shows a newcomer a first call that works as it is copied", async () => {
    const page = await signIn();
    await page.getByRole("heading", { name: /make your first call/ }).waitFor();
    const code = page.getByRole("region", { name: "Example in" }).locator("code");
    const env = { ...process.env, FUELMARK_KEY: partner.secret };
    const run = (program: string, ...args: string[]) =>
      promisify(execFile)(program, args, { env, timeout: 20_000 });
    await page.getByRole("button", { name: "TypeScript" }).click();
    const typescript = await run(
      "node",
      "--import",
      "tsx",
      "--input-type=module",
      "-e",
      (await code.textContent())!,
    );
    expect(typescript.stdout)
      .to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[/)
      .and.to.include("n1000");
    await page.getByRole("button", { name: "curl" }).click();
    const curl = (await code.textContent())!;
    expect(curl).to.include(`"${web.baseUrl}/api/v1/partner/stations/all?limit=3"`);
    // It is said for two seconds and a half: looked for from before on.
    await Promise.all([
      page.getByText("Copied").waitFor(),
      page.getByRole("button", { name: "Copy" }).click(),
    ]);
  });

  itLong("shows the requests that were just made, by method", async () => {
    const page = await signIn();
    const api = createClient(web.baseUrl, partner.secret);
    await api.get("/cities");
    await api.get("/stations?bbox=54,36,56,38");
    await api.get("/stations?bbox=54,36,56,38");
    await page.reload();
    const slider = page.getByRole("slider", { name: "Requests per day by method" });
    await slider.waitFor();
    expect(await slider.getAttribute("aria-valuetext")).to.match(
      /: 3 requests, GET \/stations 2, GET \/cities 1$/,
    );
    await slider.press("ArrowLeft");
    expect(await slider.getAttribute("aria-valuetext")).to.match(/: 0 requests$/);
    await page.getByText("Show as a table").click();
    const table = page.getByRole("table", { name: "Requests per day by method" });
    expect(await table.getByRole("row").nth(1).innerText()).to.match(/3\s+2\s+1/);
    expect(await part(page, "Today").innerText()).to.include("4,997");
  });

  itLong("shows which calls failed with which code, and the request to quote", async () => {
    const page = await signIn();
    const api = createClient(web.baseUrl, partner.secret);
    await api.get("/cities");
    const failed = await api.get("/stations");
    await api.mark(placeOf(0), "one", { status: "perhaps" });
    await api.post("/reports", {
      reports: [{ station_id: "none", user_ref: "a", status: "yes" }],
    });
    await tab(page, "errors");
    const last = part(page, "Last requests");
    const id = failed.headers.get("x-request-id")!;
    await until(
      async () => {
        await page.reload();
        await last.getByRole("table").waitFor();
        return last.getByRole("table").getByRole("row").count();
      },
      (count) => count === 5,
    );
    const row = last.getByRole("row").filter({ hasText: id });
    expect(await row.innerText()).to.match(/GET \/stations\s+422 missing-area/);
    await last.getByRole("button", { name: "Errors only" }).click();
    await last.getByText("/cities").waitFor({ state: "detached" });
    expect(await last.getByRole("table").getByRole("row").count()).to.equal(3);
    await page.getByLabel("Kind of key").selectOption("widget");
    await last.getByText("No errors in the last 48 hours.").waitFor();
    await page.getByLabel("Kind of key").selectOption("partner");
    const errors = page.getByRole("table", { name: "Errors by code and call" });
    const missing = errors.getByRole("row").filter({ hasText: "missing-area" });
    expect(await missing.innerText()).to.match(/GET \/stations\s+1\s+1\s+0/);
    await tab(page, "marks");
    const refused = page.getByRole("table", { name: "Refused marks by reason" });
    const batch = refused.getByRole("row").filter({ hasText: "POST /reports" });
    expect(await batch.innerText()).to.match(/station-not-found[^]*POST \/reports\s+0\s+1/);
    await tab(page, "today");
    const hours = part(page, "Hours");
    expect(
      await hours.getByRole("slider", { name: "Requests per hour" }).getAttribute("aria-valuetext"),
    ).to.match(/\d\d:00: [1-4] requests/);
    expect(await hours.getByRole("table").getByRole("row").count()).to.be.within(2, 3);
    await tab(page, "errors");
    await missing.getByRole("link", { name: "missing-area" }).click();
    await page.getByText("Neither bbox nor city given").first().waitFor();
  });

  it("files a limit request, shows that it waits, and the new limit when it is approved", async () => {
    const page = await signIn();
    await tab(page, "limits");
    const limits = part(page, "Limits");
    await limits.getByRole("button", { name: "Send the request" }).click();
    await limits.getByText("A whole number from 1 to 100,000, without spaces.").waitFor();
    expect(await page.evaluate<string>("document.activeElement.id")).to.equal("rpm");
    await limits.getByLabel("Requests per minute").fill("2500");
    await limits.getByLabel("Requests per day").fill("90000");
    await limits.getByLabel("Comment").fill("A second city");
    await limits.getByRole("button", { name: "Send the request" }).click();
    await limits.getByText("“A second city”").waitFor();
    expect(await limits.getByRole("button", { name: "Send the request" }).count()).to.equal(0);
    const { json } = await runOperator(instance.env, "limit-request", "list", "--json");
    const { id } = (json as { id: number; partner_id: number }[]).find(
      (one) => one.partner_id === partner.id,
    )!;
    await runOperator(
      instance.env,
      "limit-request",
      "approve",
      String(id),
      "--comment",
      "Welcome",
      "--json",
    );
    await page.reload();
    await limits.getByText("✓ approved").waitFor();
    expect(await limits.innerText())
      .to.include("Welcome")
      .and.to.include("2,500")
      .and.to.include("90,000");
  });

  itLong("asks before less than now, lets a request be corrected, shows the grant", async () => {
    await createClient(web.baseUrl, partner.secret).get("/cities");
    const page = await signIn();
    await tab(page, "limits");
    const limits = part(page, "Limits");
    const send = limits.getByRole("button", { name: "Send the request" });
    const fill = async (daily: string): Promise<void> => {
      await limits.getByLabel("Requests per day").fill(daily);
      await send.click();
    };
    await limits.getByLabel("Requests per minute").fill("900");
    await fill("30");
    const question = page.getByRole("dialog", { name: "Ask for less than now?" });
    await question.getByText("30 per day: now you have 5,000.").waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    const stored = () =>
      rows<{ id: number; status: string; requested_daily: number }>(
        country.db,
        "select id, status, requested_daily from limit_requests where partner_id = ? order by id",
        [partner.id],
      );
    expect(await stored()).to.deep.equal([]);
    await send.click();
    await question.getByRole("button", { name: "Ask for it" }).click();
    await limits.getByRole("button", { name: "Withdraw or correct it" }).click();
    await limits.getByText("○ withdrawn by you").waitFor();
    expect(await limits.getByLabel("Requests per minute").inputValue()).to.equal("900");
    await fill("30000");
    await limits.getByText("… pending").waitFor();
    const found = await stored();
    expect(found.map(({ status, requested_daily: daily }) => [status, daily])).to.deep.equal([
      ["withdrawn", 30],
      ["pending", 30_000],
    ]);
    const approve = ["limit-request", "approve", String(found[1]!.id), "--rpm", "800", "--json"];
    await runOperator(instance.env, ...approve);
    await page.reload();
    const decided = page.getByRole("table", { name: "Decided limit requests" });
    const row = decided.getByRole("row").filter({ hasText: "✓ approved" });
    expect(await row.innerText()).to.match(
      /900 per minute, 30,000 per day\s+800 per minute, 30,000 per day/,
    );
    expect(await limits.getByLabel("Requests per minute").inputValue()).to.equal("");
  });

  itLong("shows in red what limits refused, and in words what held marks wait for", async () => {
    partner = await addPartner(country, { rpm: 600, daily: 4 });
    const api = createClient(web.baseUrl, partner.secret);
    for (let n = 0; n < 3; n += 1) await api.mark(placeOf(n), `user ${n}`, { status: "yes" });
    await rows(
      country.db,
      "update marks set review = 'held', held_reason = 'city' where partner_id = ? and station_id <> ?",
      [partner.id, placeOf(0).id],
    );
    for (let n = 0; n < 3; n += 1) await api.get("/cities");
    const page = await signIn();
    const tile = part(page, "Today").locator(".tile.refused");
    await until(
      async () => {
        await page.reload();
        await part(page, "Today").getByText("updated every 15 s").waitFor();
        return (await tile.allInnerTexts()).join();
      },
      (text) => text.includes("2 of 6 calls"),
    );
    expect(
      await page
        .getByRole("slider", { name: "Requests per day by method" })
        .getAttribute("aria-valuetext"),
    ).to.match(/Refused, not counted 2$/);
    const colour = (text: string) =>
      part(page, "Requests per day")
        .locator("li")
        .filter({ hasText: text })
        .locator("rect")
        .getAttribute("fill");
    expect([await colour("Refused"), await colour("/cities")]).to.deep.equal([
      "var(--refused)",
      "var(--part1)",
    ]);
    await page.getByRole("slider", { name: "Requests per hour" }).waitFor();
    await tab(page, "marks");
    const marks = part(page, "Marks by outcome");
    expect(await marks.getByRole("status").innerText()).to.match(
      /2 of 3 marks \(67\s?%\) wait[^]*Nothing needs to be done/,
    );
    expect(
      await marks.getByRole("slider", { name: "Marks per day" }).getAttribute("aria-valuetext"),
    ).to.match(/3 marks, Taken 1, On review 2$/);
    await tab(page, "today");
    await tile.getByRole("link", { name: "ask for more" }).click();
    await part(page, "Limits").getByLabel("Requests per minute").waitFor();
    await page.goBack();
    await tile.waitFor();
  });

  itLong("shows itself by a link, which changes nothing and is ended by its maker", async () => {
    const page = await signIn();
    await tab(page, "links");
    const own = part(page, "Links for readers");
    await own.getByRole("button", { name: "Make a link" }).click();
    await own.getByLabel("For whom").fill("The manager");
    await own.getByRole("button", { name: "Make the link" }).click();
    const url = await own.locator("code.said").innerText();
    const view = await openPage({ width: 390 });
    const reader = view.page;
    await reader.goto(url);
    await part(reader, "Today").getByText("updated every 15 s").waitFor();
    await reader.getByText("to read, by the link for The manager").waitFor();
    expect(reader.url()).not.to.include("link=");
    expect(await reader.locator("nav.parts a").allInnerTexts()).to.deep.equal([
      ...["Requests", "Errors", "Marks", "Limits and keys"],
    ]);
    await tab(reader, "limits");
    await reader.getByRole("table", { name: "Your keys" }).waitFor();
    for (const name of ["Send the request", "Replace the key of this session"])
      expect(await reader.getByRole("button", { name }).count(), name).to.equal(0);
    await isClean(reader);
    // Else it may hear of the end by itself, before it is asked.
    await reader.goto("about:blank");
    await page.reload();
    const row = page.getByRole("table", { name: "Your links for readers" }).getByRole("row");
    await row.getByRole("button", { name: "End it" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
    await own.getByText("○ over").waitFor();
    await open(reader);
    await reader.getByText("Your session has ended.").waitFor();
    await reader.goto("about:blank");
    await reader.goto(url);
    await reader.getByText("This link is over.").waitFor();
    expect(view.complaints.filter((said) => !said.includes("401"))).to.deep.equal([]);
  });

  itLong("shows that a webhook fails, what was sent and answered, and changes it", async () => {
    const [webhook] = await rows<{ id: number }>(
      country.db,
      `insert into webhook_endpoints (partner_id, url, events, secret, failing_since, next_at)
       values (?, ?, '{report.processed,key.expiring}', '', server_now(), 'infinity') returning id`,
      [partner.id, `https://shop.example/${"a-rather-long-path/".repeat(6)}`],
    );
    const answer = `<p>${"Something is wrong here. ".repeat(12)}</p>`;
    await rows(
      country.db,
      `insert into webhook_deliveries (endpoint_id, type, data, attempts, tried_at, status, answer, duration_ms)
       values (?, 'report.processed', '{"marks": [7, 8]}', 3, server_now(), 500, ?, 12)`,
      [webhook!.id, answer],
    );
    const page = await signIn();
    await tab(page, "webhooks");
    const hooks = part(page, "Webhooks");
    await hooks.getByText("✕ failing").waitFor();
    expect(await fitsWidth(page)).to.equal(true);
    const table = page.getByRole("table", { name: "Your webhooks" });
    expect(
      await page.evaluate<boolean>(
        "(({ scrollWidth, parentElement }) => scrollWidth <= parentElement.clientWidth)(document.querySelector('#webhooks table'))",
      ),
    ).to.equal(true);
    await table.getByRole("button", { name: "Deliveries" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("✕ failed, waiting").waitFor();
    await dialog.getByText("Contents", { exact: true }).click();
    await dialog.getByText('{"marks": [7, 8]}').waitFor();
    await dialog.getByText("Answer", { exact: true }).last().click();
    expect(await dialog.innerText()).to.include(answer.trim().slice(0, 200));
    await isClean(page);
    await dialog.getByRole("button", { name: "Close" }).click();
    await table.getByText("More").click();
    await table.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: /Edit webhook/ });
    const url = await form.getByLabel("URL").inputValue();
    await form.getByLabel("URL").fill("nonsense");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("A whole address, like https://example.com/fuel.").waitFor();
    expect(await page.evaluate<string>("document.activeElement.type")).to.equal("url");
    await form.getByLabel("URL").fill(url);
    await form.getByLabel(/A key ends/).uncheck();
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    await until(
      () =>
        rows<{ events: string[] }>(
          country.db,
          "select events from webhook_endpoints where id = ?",
          [webhook!.id],
        ),
      ([found]) => found!.events.length === 1,
    );
  });

  itLong("says above all else what the operator tells of an open incident", async () => {
    const run = (...args: string[]) => runOperator(instance.env, "incident", ...args, "--json");
    const { json } = await run("open", "--title", "Dumps come late", "--text", "We look into it.");
    try {
      const page = await signIn();
      const note = page.getByRole("status").filter({ hasText: "Dumps come late" });
      await until(
        async () => {
          await page.reload();
          await part(page, "Today").getByText("updated every 15 s").waitFor();
          return note.count();
        },
        (count) => count === 1,
      );
      expect(await note.innerText()).to.include("We look into it.");
      await note.getByRole("link", { name: "Status of the service" }).click();
      await page.getByText("Something does not work as it should").waitFor();
    } finally {
      await run("close", String(json.id), "--text", "Mended.");
    }
  });

  itLong("sends the viewer to the sign-in page with a word when the key is revoked", async () => {
    const page = await signIn();
    // Else one of the first calls finds out before the page is asked for something.
    await page.waitForLoadState("networkidle");
    await rows(country.db, "update keys set revoked_at = server_now() where partner_id = ?", [
      partner.id,
    ]);
    // Sooner than the page would ask by itself.
    await page.getByLabel("Period").selectOption("30");
    await page
      .getByText("Your session has ended. Sign in again to continue.")
      .waitFor({ timeout: 20_000 });
    expect(await page.evaluate<string>("document.body.innerText")).not.to.include(
      "Another partner",
    );
  });

  itLong("says when the service is away, keeps what it has, and tries again", async () => {
    const page = await signIn();
    await page.route("**/api/overview*", (route) => route.abort());
    await page.getByLabel("Period").selectOption("30");
    const alert = page.getByRole("alert").filter({ hasText: "cannot be reached" });
    await alert.waitFor();
    expect(await alert.innerText()).to.include("The data below is older.");
    expect(await part(page, "Today").innerText()).to.include("5,000");
    await page.unroute("**/api/overview*");
    await alert.getByRole("button", { name: "Try again" }).click();
    await alert.waitFor({ state: "detached" });
  });

  itLong("pages and sorts its tables", async () => {
    await live();
    const page = await signIn();
    await tab(page, "limits");
    const table = page.getByRole("table", { name: "Decided limit requests" });
    await table.waitFor();
    expect(await table.getByRole("row").count()).to.equal(11);
    await page
      .getByRole("navigation", { name: "Pages: Decided limit requests" })
      .getByRole("button", { name: "Next" })
      .click();
    expect(await table.getByRole("row").count()).to.equal(3);
    await table.getByRole("button", { name: "Asked for" }).click();
    await table.getByRole("button", { name: "Asked for" }).click();
    expect(await table.getByRole("row").nth(1).innerText()).to.include("712");
  });

  describe("replaces a key", () => {
    const keys = (page: Page) => part(page, "Keys");
    const button = (page: Page) =>
      keys(page).getByRole("button", { name: "Replace the key of this session" });

    itLong("by one that is shown once, and says when the old one ends", async () => {
      await makeKeysOld();
      const page = await signIn();
      await tab(page, "limits");
      await button(page).click();
      const days = keys(page).getByLabel("Days until the present key ends");
      expect(await days.inputValue()).to.equal("7");
      await days.fill("31");
      await press(keys(page), "Make the new key");
      expect(
        await page.evaluate<boolean>("document.getElementById('overlap-days').validity.valid"),
      ).to.equal(false);
      await days.fill("2");
      await press(keys(page), "Make the new key");
      const shown = keys(page).getByText(/^svc_live_\w{49}$/);
      await shown.waitFor();
      await isClean(page);
      const key = (await shown.textContent())!;
      for (const one of [key, partner.secret])
        expect((await createClient(web.baseUrl, one).get("/cities")).status).to.equal(200);
      await press(keys(page), "I have copied it");
      await shown.waitFor({ state: "detached" });
      await keys(page).getByText("The key of this session ends").waitFor();
      expect(await button(page).count()).to.equal(0);
      expect(await page.content()).not.to.include(key);
      expect(JSON.stringify(await page.context().storageState())).not.to.include(key);
    });

    itLong("and says before when it can, while the key is too young", async () => {
      const page = await signIn();
      await tab(page, "limits");
      await keys(page).getByText("can be replaced from").waitFor();
      expect(await button(page).count()).to.equal(0);
    });
  });

  for (const [width, dark] of windowsTried) {
    const what = `${width} wide, ${dark ? "dark" : "light"}`;
    it(`is free of faults that axe finds, fits and asks no other host, ${what}`, async () => {
      await live();
      const view = await openPage({ width, dark });
      await open(view.page);
      await view.page.getByLabel("Secret key").waitFor();
      await isClean(view.page, `sign-in ${what}`);
      const page = await signIn(view);
      await page.getByText("Show as a table").click();
      const parts = [
        ["today", "Requests and durations per hour"],
        ["errors", "Errors by code and call"],
        ["marks", "Held marks by reason"],
        ["limits", "Your keys"],
        ["webhooks", null],
        ["links", null],
        ["first-call", null],
      ] as const;
      for (const [address, table] of parts.filter((_, n) => sized(n % 2 === 0, true))) {
        await tab(page, address);
        if (table !== null) await page.getByRole("table", { name: table, exact: true }).waitFor();
        else await page.locator(`#${address}`).waitFor();
        await isClean(page, `${what} ${address}`);
      }
      expect(view.requests.filter((url) => !url.startsWith(web.baseUrl))).to.deep.equal([]);
      expect(view.complaints).to.deep.equal([]);
    });
  }

  itLong("speaks Russian on a phone that prefers it, and English when chosen", async () => {
    await live();
    await makeKeysOld();
    const view = await openPage({ width: 390, locale: "ru-RU" });
    const { page } = view;
    await open(page);
    await page.getByRole("heading", { name: "Кабинет партнёра" }).waitFor();
    expect(await englishLeft(page, { ...ofKit, ...russian })).to.deep.equal([]);
    expect(await fitsWidth(page), "sign-in").to.equal(true);
    await page.getByLabel("Секретный ключ").fill(partner.secret);
    await page.getByRole("button", { name: "Войти" }).click();
    await part(page, "Сегодня").getByText("обновляется каждые 15 с").waitFor();
    await page.getByText("Показать таблицей").click();
    const titles: string[] = [];
    for (const [address, seen, press] of [
      ["today", "Часы", null],
      ["errors", "Последние запросы", null],
      ["marks", "Отметки на проверке по причине", null],
      ["limits", "Лимиты", "Заменить ключ этого сеанса"],
      ["webhooks", "Вебхуки", "Добавить вебхук"],
      ["links", "Ссылки для чтения", "Создать ссылку"],
      ["first-call", "Первый запрос", null],
    ] as const) {
      await tab(page, address);
      await page.getByRole("heading", { name: seen, exact: true }).waitFor();
      if (press !== null) await page.getByRole("button", { name: press }).click();
      expect(await englishLeft(page, { ...ofKit, ...russian }), address).to.deep.equal([]);
      await isClean(page, address);
      titles.push(...(await page.getByRole("heading", { level: 2 }).allInnerTexts()));
    }
    expect(titles).to.deep.equal([
      "Сегодня",
      "Запросы в день",
      "Часы",
      "Ошибки",
      "Последние запросы",
      "Отметки по результату",
      "Лимиты",
      "Ключи",
      "Вебхуки",
      "Ссылки для чтения",
      "Первый запрос",
    ]);
    await tab(page, "today");
    await page.getByLabel("Язык", { exact: true }).selectOption("en");
    await part(page, "Today").getByText("updated every 15 s").waitFor();
    await page.reload();
    await part(page, "Today").getByText("updated every 15 s").waitFor();
    expect(await page.evaluate<string>("document.documentElement.lang")).to.equal("en");
    expect(view.complaints).to.deep.equal([]);
  });

  itLong("remembers the theme that was chosen", async () => {
    const page = await signIn();
    await page.getByLabel("Theme").selectOption("dark");
    await page.reload();
    expect(await page.evaluate<string>("document.documentElement.dataset.theme")).to.equal("dark");
    await page.getByLabel("Theme").selectOption("auto");
    expect(await page.evaluate<string>("document.documentElement.dataset.theme")).to.equal("light");
  });
});
