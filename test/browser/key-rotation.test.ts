import { expect } from "chai";
import type { Page } from "playwright-core";
import { rows } from "#src/infrastructure/db.ts";
import { createClient } from "#test/flow/client.ts";
import { addPartner, type OtherPartner } from "#test/flow/more-partners.ts";
import { axeFaults, fitsWidth, useBrowser, openPage } from "#test/harness/browser.ts";
import { itLong, windowsOf } from "#test/harness/long.ts";
import { useStage } from "#test/flow/stage.ts";

describe("browser: a partner replaces its key", function () {
  const { country, web } = useStage(3, ["web"], { SIGN_INS_PER_MINUTE: "1000" });

  useBrowser();

  const addOldPartner = async (): Promise<OtherPartner> => {
    const partner = await addPartner(country, { rpm: 600, daily: 5000 });
    const sql =
      "update keys set created_at = server_now() - interval '2 days' where partner_id = ?";
    await rows(country.db, sql, [partner.id]);
    return partner;
  };
  const signIn = async (page: Page, key: string): Promise<void> => {
    await page.goto(`${web.baseUrl}/dashboard/#keys`);
    await page.getByLabel("Secret key").fill(key);
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  const keysOf = (page: Page) => page.getByRole("region", { name: "Keys", exact: true });
  const button = (page: Page) =>
    keysOf(page).getByRole("button", { name: "Replace the key of this session" });

  it("by one that is shown once, and sees when the old one ends", async () => {
    const { secret } = await addOldPartner();
    const { page, close } = await openPage();
    await signIn(page, secret);
    await button(page).click();
    const days = keysOf(page).getByLabel("Days until the present key ends");
    expect(await days.inputValue()).to.equal("7");
    await days.fill("31");
    await keysOf(page).getByRole("button", { name: "Make the new key" }).click();
    expect(
      await page.evaluate<boolean>("document.getElementById('overlap-days').validity.valid"),
    ).to.equal(false);
    await days.fill("2");
    await keysOf(page).getByRole("button", { name: "Make the new key" }).click();
    const shown = keysOf(page).getByText(/^svc_live_\w{49}$/);
    await shown.waitFor();
    const key = (await shown.textContent())!;
    for (const one of [key, secret])
      expect((await createClient(web.baseUrl, one).get("/cities")).status).to.equal(200);
    await keysOf(page).getByRole("button", { name: "I have copied it" }).click();
    await shown.waitFor({ state: "detached" });
    await keysOf(page).getByText("The key of this session ends").waitFor();
    expect(await button(page).count()).to.equal(0);
    expect(await page.content()).not.to.include(key);
    expect(JSON.stringify(await page.context().storageState())).not.to.include(key);
    await close();
  });

  itLong("and is told before when it can, while the key is too young", async () => {
    const { secret } = await addPartner(country);
    const { page, close } = await openPage();
    await signIn(page, secret);
    await keysOf(page).getByText("can be replaced from").waitFor();
    expect(await button(page).count()).to.equal(0);
    await close();
  });

  for (const [width, dark] of windowsOf(1)) {
    it(`without an accessibility fault at ${width} px, ${dark ? "dark" : "light"}`, async () => {
      const { secret } = await addOldPartner();
      const { page, close } = await openPage({ width, dark });
      await signIn(page, secret);
      await button(page).click();
      await keysOf(page).getByLabel("Days until the present key ends").waitFor();
      expect(await axeFaults(page)).to.deep.equal([]);
      expect(await fitsWidth(page)).to.equal(true);
      await keysOf(page).getByRole("button", { name: "Make the new key" }).click();
      await keysOf(page).getByText("The new secret key").waitFor();
      expect(await axeFaults(page)).to.deep.equal([]);
      expect(await fitsWidth(page)).to.equal(true);
      await close();
    });
  }
});
