import { Queue, Worker } from "bullmq";
import { expect } from "chai";
import { Redis } from "ioredis";
import { Secret, TOTP } from "otpauth";
import { isRefusal } from "#src/contract/refusals.ts";
import { rows } from "#src/infrastructure/db.ts";
import { decideBatch } from "#src/marks/bulk-decisions.ts";
import { enableTotp } from "#src/operators/accounts.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { holdMark } from "#test/flow/held-marks.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import { isClean, openPage } from "#test/harness/browser.ts";
import { useConsole } from "#test/browser/console-site.ts";
import { englishLeft } from "#test/browser/english-left.ts";
import { itLong, sized, windowsTried } from "#test/harness/long.ts";
import { russian } from "#web/console/russian/all.ts";
import { russian as ofKit } from "#web/kit/russian.ts";

describe("browser: console", function () {
  const site = useConsole();
  const { goTo, signIn, press, confirm, complaints } = site;

  itLong("asks for a code of an account with TOTP, once the password is right", async () => {
    const { name } = await addOperator(site.country.db, "tanya", "viewer");
    const { secret } = (await enableTotp(
      site.country.db,
      "root",
      name,
      site.instance.config.reporterPepper,
    )) as { secret: string };
    const { page } = site.opened;
    await goTo(page, "/");
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Password").fill(testPassword);
    expect(await page.getByLabel("Code").count()).to.equal(0);
    await press(page, "Sign in");
    await page.getByRole("alert").getByText("Enter the code").waitFor();
    await isClean(page);
    await page.getByLabel("Code").fill(TOTP.generate({ secret: Secret.fromBase32(secret) }));
    await press(page, "Sign in");
    await page.getByRole("navigation", { name: "Console" }).waitFor();
    expect(complaints(site.opened)).to.deep.equal([]);
  });

  itLong("tells of an incident, more of it, corrects that, and says that it is over", async () => {
    const page = await signIn("/incidents");
    await press(page, "Open an incident …");
    await page.getByLabel("Title in English").fill("Dumps come late");
    await page.getByLabel("Title in Russian").fill("Выгрузки опаздывают");
    await page.getByLabel("What is known, in English").fill("We look into it.");
    await page.getByLabel("dumps of the whole country").check();
    await isClean(page);
    await press(page, "Tell everybody");
    const card = page.getByRole("article", { name: "Dumps come late" });
    await card.getByText("We look into it.").waitFor();
    await card.getByRole("button", { name: "Tell more …" }).click();
    await page.getByLabel("What is known now, in English").fill("A disc\nis full.");
    // What is typed is kept, and shown as everybody reads it.
    await confirm(page, "Cancel");
    await card.getByRole("button", { name: "Tell more …" }).click();
    await page.locator(".preview").getByText("A disc is full.").waitFor();
    await confirm(page, "Tell everybody");
    await card.getByText("A disc is full.").waitFor();
    await card.getByRole("button", { name: "Correct …" }).click();
    await page.getByLabel("What is known, in English").fill("A disk is full.");
    await isClean(page);
    await confirm(page, "Correct");
    await card.getByText("A disk is full.").waitFor();
    await card.getByRole("button", { name: "Close …" }).click();
    await page.getByLabel("What is known now, in English").fill("All is well again.");
    await confirm(page, "Close");
    await card.getByText("All is well again.").waitFor();
    await page.getByText("No open incident.").waitFor();
    await isClean(page);
    const [row] = await rows<{ feeds: string[]; open: boolean; texts: number }>(
      site.country.db,
      `select feeds, closed_at is null as open, title_ru,
         (select count(*) from incident_updates u where u.incident_id = i.id) as texts from incidents i`,
    );
    expect(row).to.deep.equal({
      ...{ feeds: ["dumps"], open: false, texts: 3 },
      title_ru: "Выгрузки опаздывают",
    });
    expect(complaints(site.opened)).to.deep.equal([]);
  });

  itLong("shows open alarms, and has them acknowledged one by one and together", async () => {
    await rows(
      site.country.db,
      `insert into alarms (kind, subject, city, hour, details)
       select 'marks-held', 'partner ' || n, 'Тестоград', server_now(), '{"limit": 20}' from generate_series(1, 3) n`,
    );
    const page = await signIn();
    const table = page.getByRole("table", { name: "Open alarms" });
    await table.getByText("partner 2, Тестоград").waitFor();
    // This service has only the bundled map: how to come to streets.
    await page.getByText("water, borders and names, without streets").waitFor();
    await page
      .getByText("For streets set BASEMAP to openfreemap, to the address of a MapLibre style")
      .waitFor();
    await table.getByText("limit 20").first().waitFor();
    await isClean(page);
    await table
      .getByRole("row", { name: "partner 2" })
      .getByRole("button", { name: "Acknowledge" })
      .click();
    await table.getByText("partner 2, Тестоград").waitFor({ state: "detached" });
    await press(page, "Acknowledge all");
    await page.getByText("No open alarms.").waitFor();
    expect(complaints(site.opened)).to.deep.equal([]);
  });

  it("approves a limit request: the partner's headers show the new limits", async () => {
    const { secret } = await addPartner(site.country, { rpm: 700, daily: 5000 });
    const client = createClient(site.web.baseUrl, secret);
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

  it("saves of a partner what was changed, and signs nobody out without the service", async () => {
    const { id } = await addPartner(site.country, { rpm: 700, daily: 5000 });
    const page = await signIn(`/partners/${id}`);
    const save = page.getByRole("button", { name: "Save", exact: true });
    await save.waitFor();
    expect(await save.isDisabled()).to.equal(true);
    const setting = async (): Promise<unknown> =>
      (await rows(site.country.db, "select rpm, bind_ips from partners where id = ?", [id]))[0];
    // Somebody else meanwhile.
    await rows(site.country.db, "update partners set rpm = 900 where id = ?", [id]);
    await page.getByLabel("Secret keys work only from their addresses").click();
    await save.click();
    await page.getByText("Saved, takes effect within 15 s").waitFor();
    expect(await setting()).to.deep.equal({ rpm: 900, bind_ips: false });
    await until(
      () => page.getByLabel("Requests per minute").inputValue(),
      (shown) => shown === "900",
    );
    await page.context().setOffline(true);
    await press(page, "Sign out");
    await page.getByText("The service cannot be reached.").waitFor();
    await page.context().setOffline(false);
    await press(page, "Sign out");
    await page.getByLabel("Password").waitFor();
  });

  itLong("rejects a limit request at once, with a comment, and Undo brings it back", async () => {
    const { secret } = await addPartner(site.country, { rpm: 700, daily: 5000 });
    const client = createClient(site.web.baseUrl, secret);
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
    await isClean(page);
    await page.keyboard.press("Enter");
    await page.getByText("The decision was taken back").waitFor();
    expect(await requestOf()).to.include({ status: "pending", decision_comment: "" });
    await press(page, "Approve what Another partner asks for");
    const undoApproval = page.getByRole("button", {
      name: "Undo New limits for Another partner approved",
    });
    await undoApproval.waitFor();
    const [request] = await rows<{ id: number }>(
      site.country.db,
      "select max(id) as id from limit_requests where status = 'approved'",
    );
    await rows(
      site.country.db,
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

  itLong("issues a second key, and revokes the first: its dashboard is closed", async () => {
    const { id, secret } = await addPartner(site.country);
    const dashboard = await openPage();
    await dashboard.page.goto(`${site.web.baseUrl}/dashboard/`);
    await dashboard.page.getByLabel("Secret key").fill(secret);
    await press(dashboard.page, "Sign in");
    await dashboard.page.getByRole("heading", { name: "Today" }).waitFor();

    const page = await signIn(`/partners/${id}`);
    await press(page, "Issue a key");
    await page.getByLabel("Note for yourself").fill("after rotation");
    await confirm(page, "Issue it");
    const second = (await page.locator(".issued code").textContent()) ?? "";
    expect(second).to.match(/^svc_live_\w{49}$/);
    const client = createClient(site.web.baseUrl, second);
    expect((await client.get("/cities")).status).to.equal(200);
    await page.reload();
    await page.getByText("after rotation").waitFor();
    expect(await page.content()).not.to.include(second);

    const [first] = await rows<{ id: number }>(
      site.country.db,
      "select min(id) as id from keys where partner_id = ?",
      [id],
    );
    await press(page, `Revoke key ${first!.id}`);
    await confirm(page, "Revoke");
    await page.getByText(`Key ${first!.id} was revoked`).waitFor();
    await until(
      () => createClient(site.web.baseUrl, secret).get("/cities"),
      ({ status }) => status === 401,
    );
    expect((await client.get("/cities")).status).to.equal(200);
    await dashboard.page.reload();
    await dashboard.page.getByLabel("Secret key").waitFor();
  });

  itLong("asks before it shuts a partner out, and then every request is refused", async () => {
    const { id, secret } = await addPartner(site.country);
    const page = await signIn(`/partners/${id}`);
    await page.getByLabel("Access is on").uncheck();
    await press(page, "Save");
    await page.getByRole("dialog").getByText("get 403 within 15 seconds").waitFor();
    await confirm(page, "Block");
    await page.getByText("Saved, takes effect within 15 s").waitFor();
    const refused = await until(
      () => createClient(site.web.baseUrl, secret).get("/cities"),
      ({ status }) => status === 403,
    );
    expect(refused.body.type).to.match(/\/partner-disabled$/);
  });

  itLong("shows a viewer everything and no button that changes something", async () => {
    const { id } = await addPartner(site.country);
    await holdMark(site.partner, site.nextPlace++);
    const page = await signIn(`/partners/${id}`, "vera");
    await page.getByText("Limits and switches").waitFor();
    for (const name of ["Issue a key", "Save", /^Revoke/])
      expect(await page.getByRole("button", { name }).count()).to.equal(0);
    expect(await page.getByLabel("Requests per minute").isDisabled()).to.equal(true);
    await goTo(page, "/review");
    await page.getByText("1 held", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: /Approve|Reject/ }).count()).to.equal(0);
  });

  itLong("signs in again on the same page when the session is ended elsewhere", async () => {
    const page = await signIn("/log");
    await page.getByText("console.sign-in").first().waitFor();
    await rows(
      site.country.db,
      "update sessions set ended_at = server_now() where ended_at is null",
    );
    await press(page, "Filter");
    await page.getByLabel("Password").waitFor();
    await page.getByLabel("Name").fill("olga");
    await page.getByLabel("Password").fill(testPassword);
    await press(page, "Sign in");
    await page.getByRole("heading", { name: "Log" }).waitFor();
  });

  itLong("opens the queues under the console's session", async () => {
    const page = await signIn();
    await page.getByRole("link", { name: "Queues" }).click();
    await page
      .getByRole("link", { name: /snapshots/ })
      .first()
      .waitFor();
    expect(complaints(site.opened)).to.deep.equal([]);
    const foreign = site.opened.requests.filter((url) => !url.startsWith(site.web.baseUrl));
    expect(foreign).to.deep.equal([]);
  });

  itLong("has queues in the language of the browser, or of their settings", async () => {
    const redis = new Redis(site.instance.redisUrl, { maxRetriesPerRequest: null });
    const connection = { connection: redis, prefix: site.instance.redisPrefix };
    const queue = new Queue("upkeep", connection);
    await queue.add("fails", { n: 1 }, { attempts: 1 });
    const broken = () => Promise.reject(new Error("broken"));
    const worker = new Worker("upkeep", broken, connection);
    await until(
      () => queue.getFailedCount(),
      (count) => count === 1,
    );
    await worker.close();
    await queue.close();
    redis.disconnect();
    for (const [locale, named, status] of [
      ["en", "en-GB", "Retry all"],
      ["ru", "ru-RU", "Повторить все"],
    ] as const) {
      const other = await openPage({ locale });
      const page = await signIn("/", "olga", other);
      const url = `${site.web.baseUrl}/console/queues/queue/upkeep?status=failed`;
      await page.goto(url);
      await page.getByText(status, { exact: true }).first().waitFor();
      expect(await page.locator("html").getAttribute("lang")).to.equal(named);
      const chosen = JSON.stringify({ state: { language: "ru-RU" }, version: 0 });
      await page.evaluate(`localStorage.setItem("board-settings", ${JSON.stringify(chosen)})`);
      await page.goto(url);
      await page.getByText("Повторить все", { exact: true }).first().waitFor();
      expect(other.complaints).to.deep.equal([]);
    }
  });

  describe("on any window, light and dark", () => {
    let paths: (readonly [path: string, title: string])[];

    before(async () => {
      const { id } = await addPartner(site.country);
      const { secret } = await addPartner(site.country, { rpm: 700, daily: 5000 });
      await createClient(site.web.baseUrl, secret).post("/limit-requests", {
        requested_rpm: 1500,
        requested_daily: 90_000,
        comment: "x".repeat(300),
      });
      await holdMark(site.partner, site.nextPlace++);
      const withdrawn = site.nextPlace++;
      await holdMark(site.partner, withdrawn);
      const station = placeOf(withdrawn).id;
      const done = await decideBatch(
        site.country.db,
        "olga",
        "rollback",
        { station },
        () => undefined,
      );
      const rollback = isRefusal(done) ? null : done.id;
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
        [`/stations/${placeOf(0).id}`, `Station ${placeOf(0).id}`],
        ["/brands", "Brands"],
        ["/pairs", "Pairs"],
        ["/imports", "Imports"],
        ["/feeds", "Feeds"],
        ["/incidents", "Incidents"],
        ["/log", "Log"],
        ["/sessions", "Sessions"],
      ];
    });

    for (const [width, dark] of windowsTried) {
      const what = `${width} px wide, ${dark ? "dark" : "light"}`;
      it(`has no fault that axe finds, fits, and asks no other host: ${what}`, async () => {
        const view = await openPage({ width, dark });
        const { page } = view;
        await goTo(page, "/partners");
        await page.getByLabel("Name").fill("olga");
        await page.getByLabel("Password").fill("not her password");
        await press(page, "Sign in");
        await page.getByRole("alert").getByText("No account has this name").waitFor();
        expect(await page.getByRole("navigation").count()).to.equal(0);
        await isClean(page, "sign-in");
        await page.getByLabel("Password").fill(testPassword);
        await press(page, "Sign in");
        await page.getByRole("navigation", { name: "Console" }).waitFor();
        for (const [path, title] of paths.filter((_, n) => sized(n % 3 === 0, true))) {
          await goTo(page, path);
          await page.getByRole("heading", { level: 1, name: title }).waitFor();
          await page.locator(".waiting").first().waitFor({ state: "detached" });
          await isClean(page, path);
        }
        await press(page, "Find");
        await page.getByRole("combobox", { name: "Find a page" }).fill("a");
        await page.getByRole("group", { name: "Stations" }).waitFor();
        await isClean(page, "palette");
        // Who wants less motion gets no endless one.
        const repeats = await page.evaluate(`
          document.body.insertAdjacentHTML("beforeend", '<p class="waiting"><i></i></p>');
          getComputedStyle(document.querySelector(".waiting i")).animationIterationCount`);
        expect(repeats).to.equal("1");
        const foreign = view.requests.filter((url) => !url.startsWith(site.web.baseUrl));
        expect(foreign).to.deep.equal([]);
        expect(complaints(view)).to.deep.equal([]);
      });
    }

    itLong("is in Russian", async () => {
      const words: Record<string, string> = { ...ofKit, ...russian };
      const view = await openPage({ width: 390, locale: "ru-RU" });
      const { page } = view;
      await goTo(page, "/");
      await page.getByLabel("Имя", { exact: true }).fill("olga");
      await page.getByLabel("Пароль", { exact: true }).fill(testPassword);
      expect(await englishLeft(page, words), "sign-in").to.deep.equal([]);
      await page.getByRole("button", { name: "Войти", exact: true }).click();
      await page.locator(".parts").waitFor();
      // What the server says of its parts, all of it in words that the console knows.
      expect(await page.locator(".parts [lang=en]").allTextContents()).to.deep.equal([]);
      for (const [path, title] of paths) {
        await goTo(page, path);
        const heading = words[title] ?? title.replace(/^Rollback #/, "Откат № ");
        await page.getByRole("heading", { level: 1, name: heading }).waitFor();
        await page.locator(".waiting").first().waitFor({ state: "detached" });
        const left = await englishLeft(page, words);
        // What stations, partners and keys of the tests are called.
        const names = /^(Brand|secret|partner \d+)$/;
        expect(
          left.filter((text) => !names.test(text)),
          path,
        ).to.deep.equal([]);
        await isClean(page, path);
      }
      await page.getByLabel("Язык", { exact: true }).selectOption("en");
      await page.getByRole("navigation", { name: "Console" }).waitFor();
      expect(await page.evaluate<string>("document.documentElement.lang")).to.equal("en");
      expect(complaints(view)).to.deep.equal([]);
    });
  });
});
