import { html, type Html } from "#api/pages/html.ts";
import { type Language, messagesOf } from "#api/pages/messages.ts";
import { servedStatuses, type ServedStatus } from "#src/domain/vocabulary.ts";

interface Shared {
  title: string;
  description: string;
  /** The page's path from the service's address on. */
  path: string;
  baseUrl: string;
  shown: Shown;
  language: Language;
}

/** Tags of a page for messengers and search engines: title, text and picture (decisions 15.15). */
export function shareTags({ title, description, path, baseUrl, shown, language }: Shared): Html {
  const at = (place: string): string => new URL(place, `${baseUrl}/`).href;
  const url = at(path);
  const { file, width, height } = sharePicture(shown, language);
  const { siteName, statuses } = messagesOf(language);
  return html`<title>${title}</title>
    <meta name="description" content="${description}" />
    <link rel="canonical" href="${url}" />
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="${siteName}" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${description}" />
    <meta property="og:url" content="${url}" />
    <meta property="og:locale" content="${language === "ru" ? "ru_RU" : "en_GB"}" />
    <meta property="og:image" content="${at(`pictures/${file}`)}" />
    <meta property="og:image:type" content="image/png" />
    <meta property="og:image:width" content="${width}" />
    <meta property="og:image:height" content="${height}" />
    <meta property="og:image:alt" content="${shown === "map" ? siteName : statuses[shown]}" />
    <meta name="twitter:card" content="summary_large_image" />`;
}

/** The subject of a picture: a station with that status, or the map. */
export type Shown = ServedStatus | "map";

interface SharePicture {
  /** The file's name in web/pictures/, and below `/pictures/`. */
  file: string;
  /** Pixels; messengers show this size without cutting. */
  width: number;
  height: number;
}

export const shownThings: readonly Shown[] = [...servedStatuses, "map"];

/** The picture of a shared page in messengers (decisions 15.15). */
export const sharePicture = (shown: Shown, language: Language): SharePicture => ({
  file: `share-${shown}-${language}.png`,
  ...{ width: 1200, height: 630 },
});
