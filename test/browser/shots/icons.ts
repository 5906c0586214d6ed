import { readFileSync } from "node:fs";
import { openPage, useBrowser } from "#test/harness/browser.ts";

// Part of `npm run screenshots`: web/pictures/icon-*.png, for the map among a phone's applications (decisions 15.19).
const icons = [
  { file: "icon-192.png", size: 192, filled: false },
  { file: "icon-512.png", size: 512, filled: false },
  // Phones cut them to a shape of their own.
  { file: "icon-maskable-512.png", size: 512, filled: true },
  { file: "icon-apple-180.png", size: 180, filled: true },
];

describe("screenshots: icons of the map", function () {
  useBrowser();

  const drawn = readFileSync("web/kit/favicon.svg", "utf8");
  const colour = /fill="(#[0-9a-f]+)"/.exec(drawn)![1];
  for (const { file, size, filled } of icons)
    it(`draws ${file}`, async () => {
      const { page } = await openPage({ width: size, height: size, pixelRatio: 1 });
      await page.setContent(
        `<style>body { margin: 0; background: ${filled ? colour : "transparent"} }
         svg { display: block; width: ${size}px; height: ${size}px }</style>${drawn}`,
      );
      await page.screenshot({ path: `web/pictures/${file}`, omitBackground: true });
    });
});
