import { readFileSync } from "node:fs";
import { type Language, messagesOf } from "#api/pages/messages.ts";
import { type Shown, sharePicture, shownThings } from "#api/pages/share-tags.ts";
import type { ServedStatus } from "#src/domain/vocabulary.ts";
import { openPage, useBrowser } from "#test/harness/browser.ts";
import { shownStatuses, signs } from "#web/widget/signs.ts";

// Part of `npm run screenshots`: web/pictures/, what messengers show of a shared page (decisions 15.15).
describe("screenshots: pictures for messengers", function () {
  useBrowser();

  for (const language of ["ru", "en"] as const)
    for (const shown of shownThings) {
      const picture = sharePicture(shown, language);
      it(`draws ${picture.file}`, async () => {
        const { width, height } = picture;
        const { page } = await openPage({ width, height, pixelRatio: 1 });
        await page.setContent(drawing(shown, language));
        await page.screenshot({ path: `web/pictures/${picture.file}` });
      });
    }
});

const tokens = readFileSync("web/kit/tokens.css", "utf8");

function drawing(shown: Shown, language: Language): string {
  const { siteName, siteDescription, statuses } = messagesOf(language);
  const isMap = shown === "map";
  const drawn = isMap ? shownStatuses.filter((one) => one !== "nodata") : [shown];
  const title = isMap ? siteName : statuses[shown];
  const edge = isMap ? "--accent" : signs[shown].colour;
  return `<!doctype html><html lang="${language}"><style>${tokens}
    body { margin: 0; height: 100vh; display: grid; grid-template-rows: 1fr auto; border-left: 28px solid var(${edge}); box-sizing: border-box; }
    main { display: flex; align-items: center; gap: 72px; padding: 0 84px }
    svg { flex: none; width: ${isMap ? 170 : 300}px }
    .signs { display: grid; grid-template-columns: 1fr 1fr; gap: 28px }
    h1 { margin: 0; font-size: ${isMap ? 88 : 104}px; line-height: 1.15; text-wrap: balance }
    footer { padding: 0 84px 52px; font-size: 40px; line-height: 1.35; color: var(--muted) }
  </style><main><div class="${isMap ? "signs" : ""}">${drawn.map(letterMaskOf).join("")}</div><h1>${title}</h1></main>
  <footer>${isMap ? siteDescription : siteName}</footer></html>`;
}

const letterMaskOf = (status: ServedStatus): string =>
  `<svg viewBox="0 0 24 24"><path d="${signs[status].outline}" fill="var(${signs[status].colour})"/><path d="${signs[status].mark}"
    fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
