import type { Page } from "playwright-core";
import type { Client } from "#test/flow/client.ts";
import { type Country, placeOf } from "#test/flow/country.ts";
import { fillReview } from "#test/flow/held-marks.ts";
import { signIn } from "#test/flow/console-client.ts";
import { addOperator } from "#test/flow/operators.ts";
import { openPage, useBrowser, type OpenedPage } from "#test/harness/browser.ts";
import type { TestInstance } from "#test/harness/instance.ts";
import type { RunningRole } from "#test/harness/roles.ts";
import { useStage } from "#test/flow/stage.ts";

/** What the tests of one file share; `opened` is the page of the test that runs. */
export interface ConsoleSite {
  instance: TestInstance;
  country: Country;
  web: RunningRole;
  /** With the partner's secret key. */
  partner: Client;
  opened: OpenedPage;
  /** The first station that no test has used. */
  nextPlace: number;
  goTo(page: Page, path: string): Promise<unknown>;
  /** Without the form, which has tests of its own. */
  signIn(path?: string, name?: string, view?: OpenedPage): Promise<Page>;
  press(page: Page, name: string | RegExp): Promise<void>;
  /** Presses a button of the dialogue. */
  confirm(page: Page, name: string): Promise<void>;
  /** What the API says of station number `n`. */
  fuelOf(n: number): Promise<Record<string, unknown>>;
  /** But for the 401 by which a page learns that nobody is signed in. */
  complaints(view: OpenedPage): string[];
}

/** A service with the operator `olga`, the viewer `vera` and marks to review, and a fresh page for each test. */
export function useConsole(): ConsoleSite {
  const settings = { SIGN_INS_PER_MINUTE: "1000" };
  const { instance, country, web, client } = useStage(60, ["web", "marks"], settings);
  const site = {
    ...{ instance, country, web, partner: client },
    goTo: (page, path) => page.goto(`${site.web.baseUrl}/console/#${path}`),
    signIn: async (path = "/", name = "olga", { page } = site.opened) => {
      await signInTo(site.web.baseUrl, page, path, name);
      return page;
    },
    press: (page, name) => page.getByRole("button", { name }).click(),
    confirm: (page, name) => page.getByRole("dialog").getByRole("button", { name }).click(),
    fuelOf: async (n) => (await site.partner.get(`/stations/${placeOf(n).id}`)).body.station.fuel,
    complaints: (view) => view.complaints.filter((one) => !one.includes("401")),
  } as ConsoleSite;

  useBrowser();
  before(async () => {
    await addOperator(site.country.db, "olga");
    await addOperator(site.country.db, "vera", "viewer");
    site.nextPlace = await fillReview(site.partner, 0);
  });
  beforeEach(async () => {
    site.opened = await openPage();
  });
  return site;
}

/** Opens a page of the console as who has signed in with the tests' password. */
export async function signInTo(
  baseUrl: string,
  page: Page,
  path: string,
  name = "olga",
): Promise<void> {
  const { cookie } = await signIn(baseUrl, name);
  const [own = "", value = ""] = cookie.split("=");
  await page.context().addCookies([{ name: own, value, url: `${baseUrl}/console/` }]);
  await page.goto(`${baseUrl}/console/#${path}`);
  await page.locator("nav.menu").waitFor();
}
