import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type FrameLocator,
  type Locator,
  type Page,
} from "playwright-core";
import { chromiumFlags, findChromium } from "#demo/chromium.ts";
import { hold } from "#test/harness/leaks.ts";

const patienceMs = 180_000;
const actionMs = 120_000;

let browser: Browser | undefined;
/** One that has windows, of this file alone. */
let windowed: Browser | undefined;
const contexts: BrowserContext[] = [];

/**
 * The run's browser, for the pages of a `describe`, which is skipped when the run has found none. It may still be being
 * installed. The pages of a test are closed after it.
 */
export function useBrowser(): void {
  before(async function () {
    browser = await openBrowser(this);
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  after(async () => {
    await windowed?.close();
    windowed = undefined;
    await browser?.close();
  });
}

async function openBrowser(context: Mocha.Context): Promise<Browser> {
  context.timeout(patienceMs);
  const addressFile = process.env["TEST_BROWSER"];
  if (addressFile === undefined) context.skip();
  while (!existsSync(addressFile)) await sleep(100);
  const address = readFileSync(addressFile, "utf8");
  if (address === "") context.skip();
  return held(await chromium.connect(address));
}

/** Costs as much as opening several pages, and each page in it twice as much as in the other. */
async function openWindowed(): Promise<Browser> {
  const executablePath = await findChromium(console.error);
  return held(await chromium.launch({ executablePath: executablePath!, args: chromiumFlags }));
}

function held(opened: Browser): Browser {
  const letGo = hold("browser", () => opened.close());
  opened.once("disconnected", letGo);
  return opened;
}

export interface PageOptions {
  width?: number;
  height?: number;
  locale?: string;
  dark?: boolean;
  /** Its position, allowed to every origin; null (default) refuses. */
  position?: { latitude: number; longitude: number; accuracy?: number } | null;
  phone?: boolean;
  /** Device pixels for one of the page's; for pictures. */
  pixelRatio?: number;
  /** The map may keep itself for later; else no service worker stands between a page and the service. */
  installs?: boolean;
  /** For notifications, and a storage apart on each website: the run's browser may have neither. */
  windows?: boolean;
  /** False for a browser that runs no scripts. */
  scripts?: boolean;
}

/** The map is drawn without a graphics card, which costs as much as all else: a sixteenth of the pixels will do. */
const coarse = 0.25;

/** For pictures that people look at: as a screen and as a phone show the page. */
export const sharp = (options: PageOptions): PageOptions => ({
  pixelRatio: options.phone === true ? 2 : 1,
  ...options,
});

export interface OpenedPage {
  page: Page;
  /** What the page has said on its console as warnings and errors, and its uncaught errors, oldest first. */
  complaints: string[];
  /** Every address that was asked for, oldest first. */
  requests: string[];
}

/** A page in a fresh profile (no storage, no cookies of other pages). */
export async function openPage(options: PageOptions = {}): Promise<OpenedPage> {
  const { width = 1024, height = 700, locale = "en-GB", dark = false, position = null } = options;
  const { pixelRatio } = pictures === undefined ? options : sharp(options);
  const opener = options.windows === true ? (windowed ??= await openWindowed()) : browser!;
  const context = await opener.newContext({
    viewport: { width, height },
    locale,
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
    deviceScaleFactor: pixelRatio ?? coarse,
    ...(options.phone === true ? { hasTouch: true, isMobile: true } : {}),
    javaScriptEnabled: options.scripts ?? true,
    serviceWorkers: options.installs === true ? "allow" : "block",
    ...(position === null ? {} : { geolocation: position, permissions: ["geolocation"] }),
  });
  contexts.push(context);
  // Playwright's own 30 s are too short for a page on a machine that is busy otherwise.
  context.setDefaultTimeout(actionMs);
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    const said = message.text();
    // The harness's own word, where a page may not install anything.
    if (/Service Worker registration blocked by Playwright/.test(said)) return;
    // Chromium's word on a slow machine, not on the page.
    if (/preloaded using link preload but not used within a few seconds/.test(said)) return;
    if (/GL Driver Message .*GPU stall due to ReadPixels/.test(said)) return;
    if (["warning", "error"].includes(message.type())) complaints.push(said);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  context.on("request", (request) => requests.push(request.url()));
  return { page, complaints, requests };
}

/** Where pictures of all that axe looks at are kept, for people to look at as well. */
const pictures = process.env["TEST_PICTURES"];
let taken = 0;

async function keepPicture(page: Page): Promise<void> {
  if (pictures === undefined) return;
  const { pathname, hash } = new URL(page.url());
  const { width, lang, theme } = await page.evaluate<{
    width: number;
    lang: string;
    theme: string;
  }>(
    `({ width: innerWidth, lang: document.documentElement.lang,
      theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light" })`,
  );
  const place =
    (pathname + hash).replaceAll(/[^a-z0-9]+/gi, "-").replaceAll(/^-|-$/g, "") || "root";
  const number = String((taken += 1)).padStart(3, "0");
  const name = `${process.pid}-${number}-${place}-${width}-${theme}-${lang}.png`;
  await page.screenshot({ path: join(pictures, name), fullPage: true });
}

const require = createRequire(import.meta.url);
const axeFile = require.resolve("axe-core/axe.min.js");
const axeTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * Every accessibility fault that axe finds on the page as it is now, one line each; none is the goal. `without`: rules
 * that are not asked.
 */
export async function axeFaults(page: Page, without: readonly string[] = []): Promise<string[]> {
  await keepPicture(page);
  // As expressions of the debugger: the pages' own policy lets no foreign script in. Once for each document: to bring
  // it there costs as much as to run it.
  if (!(await page.evaluate<boolean>("'axe' in window")))
    await page.evaluate(readFileSync(axeFile, "utf8"));
  const options = JSON.stringify({
    runOnly: { type: "tag", values: axeTags },
    rules: Object.fromEntries(without.map((rule) => [rule, { enabled: false }])),
    // Else axe describes every element that passes.
    resultTypes: ["violations"],
  });
  const { violations } = await page.evaluate<AxeResult>(`axe.run(${options})`);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help} [${String(node.target)}] ${node.failureSummary ?? ""}`),
  );
}

interface AxeResult {
  violations: {
    id: string;
    help: string;
    nodes: { target: unknown; failureSummary?: string }[];
  }[];
}

/** True when nothing of the page lies right of its window: no sideways scrolling. */
export const fitsWidth = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>("document.documentElement.scrollWidth <= window.innerWidth");

/** No fault that axe finds, and no sideways scrolling. `what`: the state of the page, for the word of a failure. */
export async function isClean(page: Page, what?: string): Promise<void> {
  expect(await axeFaults(page), what).to.deep.equal([]);
  expect(await fitsWidth(page), what).to.equal(true);
}

/** Presses the button of exactly this name, or the one that fits. */
export const press = (on: Page | FrameLocator | Locator, name: string | RegExp): Promise<void> =>
  on.getByRole("button", { name, exact: true }).click();
