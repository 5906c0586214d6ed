import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { mergeStation } from "#src/stations/join-stations.ts";
import { useConsole } from "#test/browser/console-site.ts";
import { englishLeft } from "#test/browser/english-left.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { isClean, openPage } from "#test/harness/browser.ts";
import { by } from "#test/harness/by.ts";
import { itLong } from "#test/harness/long.ts";
import { russian } from "#web/console/russian/all.ts";
import { russian as ofKit } from "#web/kit/russian.ts";

// In this order: each begins with what those before it have left.
describe("browser: console, brands, fields, pairs and feeds", function () {
  const site = useConsole();
  const { goTo, signIn, press, confirm, complaints } = site;
  const stationNow = async (n: number): Promise<Record<string, unknown>> =>
    (await site.partner.get(`/stations/${placeOf(n).id}`)).body.station;
  const refusedOnce = () => complaints(site.opened).filter((one) => !one.includes("422"));

  itLong("gives an unknown brand to another one, and takes the alias away", async () => {
    const page = await signIn("/brands");
    await page.getByText("0 of 60 stations with a brand have a known one.").waitFor();
    await press(page, "It is another brand … Brand");
    await page.locator("input:focus").fill("Полюс");
    expect(await page.getByLabel("Spelling").inputValue()).to.equal("Brand");
    await press(page, "Give the spelling to the brand");
    await page.getByText("Saved; stations changed: 60").waitFor();
    await page.getByText("60 of 60 stations with a brand have a known one.").waitFor();
    await until(
      () => stationNow(7),
      ({ brand }) => brand === "Полюс",
    );
    await page.getByLabel("Spelling").fill("№ 5");
    await page.getByLabel("Brand").fill("Кедр");
    await press(page, "Give the spelling to the brand");
    await page.getByText("Has nothing by which a brand is known").waitFor();
    await press(page, "Take away Brand");
    await page.getByText("No aliases yet.").waitFor();
    // The stations keep what they have got.
    expect((await stationNow(7))["brand"]).to.equal("Полюс");
    expect(refusedOnce()).to.deep.equal([]);
  });

  itLong("changes the order of sources after it has said what it changes, and back", async () => {
    const [part, whole] = [placeOf(10).id, placeOf(11).id];
    const nameNow = async () => (await stationNow(11))["name"];
    const page = await signIn("/imports");
    await page.getByText("No station has several sources yet.").waitFor();
    const before = await nameNow();
    const register = { source: "register", name: "Register" };
    await site.country.db("stations").where({ id: part }).update(register);
    await mergeStation(by(site.country.db, "olga"), { other: whole }, part);
    await page.reload();
    await press(page, "Change it … Name");
    await page.getByText("Stations that would change: 0 of 1.").waitFor();
    await page.getByLabel("First").selectOption("register");
    await page.getByText("Stations that would change: 1 of 1.").waitFor();
    await page.getByLabel("Else, 2").selectOption("test");
    expect(await nameNow()).to.equal(before);
    await isClean(page);
    await press(page, "Save");
    await page.getByText("Saved; stations changed: 1").waitFor();
    await page.getByRole("cell", { name: "register, test" }).waitFor();
    await until(nameNow, (name) => name === "Register");
    await goTo(page, "/decisions");
    await page.getByRole("button", { name: /^Undo/ }).first().click();
    await until(nameNow, (name) => name === before);
    expect(complaints(site.opened)).to.deep.equal([]);
  });

  /** Makes pairs of neighbours doubtful, by the number of the first. */
  const doubt = (...numbers: number[]) =>
    site.country.db("station_pairs").insert(
      numbers.map((n) => ({
        ...{ station_id: placeOf(n).id, into_id: placeOf(n + 1).id, verdict: "doubtful" },
        ...{ actor: "import", distance_m: 300 + n, evidence: ["same brand", "other street"] },
      })),
    );
  const verdicts = async () => {
    const sql = "select verdict from station_pairs where distance_m > 310 order by distance_m";
    return (await rows<{ verdict: string }>(site.country.db, sql)).map(({ verdict }) => verdict);
  };

  itLong("decides pairs with one key each, and takes a join back", async () => {
    await doubt(14, 20, 30);
    const page = await signIn("/pairs");
    const current = page.locator("article[aria-current=true]");
    await current.getByText(placeOf(14).id).first().waitFor();
    await isClean(page);
    await page.keyboard.press("j");
    await current.getByText(placeOf(20).id).first().waitFor();
    await page.keyboard.press("k");
    await current.getByText(placeOf(14).id).first().waitFor();
    await page.keyboard.press("s");
    await page.getByText(`Kept apart: ${placeOf(14).id} and ${placeOf(15).id}`).waitFor();
    await current.getByText(placeOf(20).id).first().waitFor();
    await page.keyboard.press("m");
    await page.getByText(`${placeOf(20).id} is a part of ${placeOf(21).id} now.`).waitFor();
    expect(await verdicts()).to.deep.equal(["apart", "joined", "doubtful"]);
    await until(
      () => stationNow(20),
      ({ id }) => id === placeOf(21).id,
    );
    await press(page, "Undo");
    await page.getByText("The two are apart again").waitFor();
    expect((await verdicts())[1]).to.equal("apart");
    await press(page, `Two stations ${placeOf(30).id} ${placeOf(31).id}`);
    await page.getByText("No pairs wait for a decision.").waitFor();
    expect(complaints(site.opened)).to.deep.equal([]);
  });

  itLong("joins on the station's page by an id, names the parts, and takes one out", async () => {
    const [part, whole] = [placeOf(40), placeOf(41)];
    const page = await signIn(`/stations/${part.id}`);
    await page.getByLabel("Make it a part of the station with the id").fill(whole.id);
    await press(page, "Join them");
    await page
      .getByText(/It is a part of/)
      .getByRole("link", { name: whole.id })
      .click();
    await page.getByText(`${part.id} from test, joined by olga`).waitFor();
    await isClean(page);
    await press(page, `Take it out ${part.id}`);
    await page.getByText("The two are apart again").waitFor();
  });

  itLong("adds, runs, pauses and forgets feeds, with why a run was refused", async () => {
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
    // As a run leaves it whose file was refused.
    await rows(
      site.country.db,
      `with run as (insert into imports (kind, file, source, replace_source, dry_run, actor, feed_id, state, fault, finished_at)
         select 'feed', 'r', 'it-mimit', false, false, 'feed', id, 'refused', 'it has shrunk: --force half', now() from feeds returning id)
       update feeds set run_id = (select id from run), failures = 2, due_at = now() + interval '1 hour'`,
    );
    await row.getByText("it has shrunk").waitFor();
    await row.getByText("2 times in a row without success").waitFor();
    await isClean(page);
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
    await goTo(page, "/imports");
    // A run that found nothing new is in the list of the feed alone.
    await page.getByRole("row").filter({ hasText: "of a feed" }).getByText("added 3").waitFor();
    expect(await page.getByRole("row").filter({ hasText: "of a feed" }).count()).to.equal(1);
    await goTo(page, "/feeds");
    await press(page, /^Forget …/);
    await confirm(page, "Forget");
    await page.getByText("No feeds yet.").waitFor();
    expect(refusedOnce()).to.deep.equal([]);
  });

  describe("with something to show", () => {
    before(async () => {
      const { db } = site.country;
      await db("imports").delete();
      await db("brand_aliases").insert([
        { key: "полюсплюс", spelling: "Полюс-плюс", brand: "Полюс" },
        { key: "частник", spelling: "Частник", brand: "" },
      ]);
      await doubt(16, 22);
      await rows(db, "update stations set brand = 'Неизвестная сеть с длинным названием'");
      await rows(
        db,
        `insert into feeds (source, files, replace_source, every_s, alarm_after_s)
         values ('it-mimit', '{https://a.example/r}', false, 21600, 86400)`,
      );
    });

    itLong("shows a viewer all of it and nothing that changes it", async () => {
      const page = await signIn("/brands", "vera");
      const buttons = (name: RegExp) =>
        page.getByRole("main").getByRole("button", { name }).count();
      await page.getByRole("cell", { name: "Полюс-плюс" }).waitFor();
      await page.getByRole("cell", { name: "no brand" }).waitFor();
      expect(await page.getByLabel("Spelling").count()).to.equal(0);
      expect(await buttons(/Take away|another brand/)).to.equal(0);
      await goTo(page, "/imports");
      await page.getByRole("cell", { name: "the own one of each station" }).first().waitFor();
      expect(await buttons(/Change it/)).to.equal(0);
      await goTo(page, "/pairs");
      await page.getByText("316 m apart").waitFor();
      await page.keyboard.press("m");
      expect(await buttons(/One station|Two stations/)).to.equal(0);
      await goTo(page, "/feeds");
      await page.getByText("it-mimit", { exact: true }).waitFor();
      expect(await buttons(/it-mimit/)).to.equal(0);
      expect((await verdicts())[1]).to.equal("doubtful");
    });

    itLong("is in Russian, without a fault, on a narrow dark window", async () => {
      const view = await openPage({ width: 320, dark: true, locale: "ru-RU" });
      const { page } = view;
      const words: Record<string, string> = { ...ofKit, ...russian };
      const isRussian = async (what: string): Promise<void> => {
        await isClean(page, what);
        expect(await englishLeft(page, words), what).to.deep.equal([]);
      };
      await signIn("/brands", "olga", view);
      await page.getByRole("button", { name: /Это другая сеть/ }).waitFor();
      await isRussian("brands");
      await goTo(page, "/pairs");
      await page.getByText("та же сеть").first().waitFor();
      await isRussian("pairs");
      await goTo(page, "/feeds");
      await page.getByRole("heading", { name: "it-mimit" }).waitFor();
      await isClean(page, "feeds");
      await goTo(page, "/imports");
      await press(page, "Изменить … Местоположение");
      await page.getByText("Изменится станций: 0 из 1.").waitFor();
      await isRussian("imports");
    });
  });
});
