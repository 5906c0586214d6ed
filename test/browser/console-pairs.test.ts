import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { russian } from "#web/console/russian/all.ts";
import { russian as ofKit } from "#web/kit/russian.ts";
import { evidenceWords } from "#src/import/match-stations.ts";
import { useConsole } from "#test/browser/console-site.ts";
import { englishLeft } from "#test/browser/english-left.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { testPassword } from "#test/flow/operators.ts";
import { axeFaults, fitsWidth, openPage } from "#test/harness/browser.ts";
import { sized } from "#test/harness/long.ts";

describe("browser: console, pairs of stations", function () {
  const site = useConsole();
  const { goTo, signIn, press, complaints } = site;
  /** Makes pairs of neighbours doubtful, by the number of the first. */
  const doubt = (...numbers: number[]) =>
    site.country.db("station_pairs").insert(
      numbers.map((n) => ({
        ...{ station_id: placeOf(n).id, into_id: placeOf(n + 1).id, verdict: "doubtful" },
        ...{ actor: "import", distance_m: 300 + n, evidence: ["same brand", "other street"] },
      })),
    );
  const verdicts = () =>
    rows<{ id: string; verdict: string }>(
      site.country.db,
      "select station_id as id, verdict from station_pairs order by distance_m",
    );
  const clear = () => site.country.db("station_pairs").delete();
  afterEach(clear);

  it("decides pairs with one key each, and takes a join back", async () => {
    await doubt(10, 20, 30);
    const page = await signIn("/pairs");
    const current = page.locator("article[aria-current=true]");
    await current.getByText(placeOf(10).id).first().waitFor();
    await page.keyboard.press("j");
    await current.getByText(placeOf(20).id).first().waitFor();
    await page.keyboard.press("k");
    await current.getByText(placeOf(10).id).first().waitFor();
    await page.keyboard.press("s");
    await page.getByText(`Kept apart: ${placeOf(10).id} and ${placeOf(11).id}`).waitFor();
    await current.getByText(placeOf(20).id).first().waitFor();
    await page.keyboard.press("m");
    await page.getByText(`${placeOf(20).id} is a part of ${placeOf(21).id} now.`).waitFor();
    expect((await verdicts()).map(({ verdict }) => verdict)).to.deep.equal([
      ...["apart", "joined", "doubtful"],
    ]);
    await until(
      async () => (await site.partner.get(`/stations/${placeOf(20).id}`)).body.station.id,
      (id) => id === placeOf(21).id,
    );
    await press(page, "Undo");
    await page.getByText("The two are apart again").waitFor();
    expect((await verdicts())[1]!.verdict).to.equal("apart");
    await press(page, `Two stations ${placeOf(30).id} ${placeOf(31).id}`);
    await page.getByText("No pairs wait for a decision.").waitFor();
    expect(complaints(site.opened)).to.deep.equal([]);
  });

  it("joins on the station's page by an id, names the parts, and takes one out", async () => {
    const [part, whole] = [placeOf(40), placeOf(41)];
    const page = await signIn(`/stations/${part.id}`);
    await page.getByLabel("Make it a part of the station with the id").fill(whole.id);
    await press(page, "Join them");
    await page
      .getByText(/It is a part of/)
      .getByRole("link", { name: whole.id })
      .click();
    await page.getByText(`${part.id} from test, joined by olga`).waitFor();
    expect(await axeFaults(page)).to.deep.equal([]);
    await press(page, `Take it out ${part.id}`);
    await page.getByText("The two are apart again").waitFor();
  });

  it("shows a viewer the pairs and nothing that decides them", async () => {
    await doubt(10);
    const page = await signIn("/pairs", "vera");
    await page.getByText("310 m apart").waitFor();
    await page.keyboard.press("m");
    expect(await page.getByRole("button", { name: /One station|Two stations/ }).count()).to.equal(
      0,
    );
    expect((await verdicts())[0]!.verdict).to.equal("doubtful");
  });

  it("has a Russian word for each evidence", () => {
    expect(evidenceWords.filter((word) => !(word in russian))).to.deep.equal([]);
  });

  for (const dark of sized([true], [false, true]))
    it(`has no fault that axe finds and fits a narrow window, ${dark ? "dark" : "light"}, in Russian`, async () => {
      await doubt(10, 20);
      const view = await openPage({ width: 320, dark, locale: "ru-RU" });
      const { page } = view;
      await goTo(page, "/pairs");
      await page.getByLabel("Имя", { exact: true }).fill("olga");
      await page.getByLabel("Пароль", { exact: true }).fill(testPassword);
      await page.getByRole("button", { name: "Войти", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Пары" }).waitFor();
      await page.getByText("та же сеть").first().waitFor();
      expect(await axeFaults(page)).to.deep.equal([]);
      expect(await fitsWidth(page)).to.equal(true);
      expect(await englishLeft(page, { ...ofKit, ...russian })).to.deep.equal([]);
      await view.close();
    });
});
