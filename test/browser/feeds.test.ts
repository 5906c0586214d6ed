import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { axeFaults, fitsWidth, openPage } from "#test/harness/browser.ts";
import { useConsole } from "#test/browser/console-site.ts";
import { sized } from "#test/harness/long.ts";

describe("the console's feeds in a browser", function () {
  this.timeout(120_000);
  const site = useConsole();
  const { signIn, press, confirm } = site;

  it("are added, run, paused, resumed and forgotten, with why a run was refused", async () => {
    const page = await signIn("/feeds");
    await page.getByText("No feeds yet.").waitFor();
    await press(page, "Add a feed …");
    await page.getByLabel("Source", { exact: true }).selectOption("it-mimit");
    await page.getByLabel("How often: every").fill("6");
    await page.getByLabel("Addresses or files").fill("ftp://a.example/r ftp://a.example/p");
    await press(page, "Add");
    await page.getByRole("alert").getByText("https://").waitFor();
    await page.getByLabel("Addresses or files").fill("");
    await press(page, "Add");
    const row = page.getByRole("article", { name: "it-mimit" });
    await row.getByText("every 6 h").waitFor();
    await row.getByText("no run yet").waitFor();
    expect(await axeFaults(page)).to.deep.equal([]);
    // As a run leaves it whose file was refused.
    await rows(
      site.country.db,
      `with run as (insert into imports (kind, file, source, replace_source, dry_run, actor, feed_id, state, fault, finished_at)
         select 'feed', 'r', 'it-mimit', false, false, 'feed', id, 'refused', 'it has shrunk: --force half', now() from feeds returning id)
       update feeds set run_id = (select id from run), failures = 2, due_at = now() + interval '1 hour'`,
    );
    await row.getByText("it has shrunk").waitFor();
    await row.getByText("2 times in a row without success").waitFor();
    await press(page, /^Run now …/);
    await page.getByLabel("Checks that this run ignores").fill("half");
    await confirm(page, "Run");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const [feed] = await rows<{ force: string[]; due: boolean }>(
      site.country.db,
      "select force, due_at <= now() as due from feeds",
    );
    expect(feed).to.deep.equal({ force: ["half"], due: true });
    await press(page, /^Pause/);
    await row.getByText("paused").waitFor();
    await press(page, /^Resume/);
    await row.getByRole("button", { name: /^Pause/ }).waitFor();
    for (const locale of sized(["ru-RU"], ["ru-RU", "en-GB"])) {
      const view = await openPage({ width: 320, dark: true, locale });
      await site.goTo(view.page, "/feeds");
      await view.page.getByLabel(locale === "ru-RU" ? "Имя" : "Name", { exact: true }).fill("vera");
      const word = locale === "ru-RU" ? "Пароль" : "Password";
      await view.page.getByLabel(word, { exact: true }).fill("correct horse battery");
      await view.page.keyboard.press("Enter");
      await view.page.getByText("it-mimit", { exact: true }).waitFor();
      expect(await axeFaults(view.page)).to.deep.equal([]);
      expect(await fitsWidth(view.page)).to.equal(true);
      // A viewer looks only.
      expect(
        await view.page.getByRole("main").getByRole("button", { name: "it-mimit" }).count(),
      ).to.equal(0);
      await view.close();
    }
    const summary = {
      source: "it-mimit",
      statuses: null,
      stations: { read: 9, added: 3, refused: 6, reasons: { "lpg-only": 6 } },
    };
    await rows(
      site.country.db,
      `insert into imports (kind, file, source, replace_source, dry_run, actor, feed_id, state, summary, finished_at)
       select 'feed', 'of a feed', 'it-mimit', false, false, 'feed 1', id, state, ?::jsonb, now()
       from feeds, unnest('{done,unchanged}'::text[]) as state`,
      [JSON.stringify(summary)],
    );
    await site.goTo(page, "/imports");
    // A run that found nothing new is in the list of the feed alone.
    await page.getByRole("row").filter({ hasText: "of a feed" }).getByText("added 3").waitFor();
    expect(await page.getByRole("row").filter({ hasText: "of a feed" }).count()).to.equal(1);
    expect(await axeFaults(page)).to.deep.equal([]);
    await site.goTo(page, "/feeds");
    await press(page, /^Forget …/);
    await confirm(page, "Forget");
    await page.getByText("No feeds yet.").waitFor();
    expect(site.complaints(site.opened).filter((one) => !one.includes("422"))).to.deep.equal([]);
  });
});
