import { html, type Html } from "#api/pages/html.ts";
import { type Language, messagesOf } from "#api/pages/messages.ts";

interface Shared {
  title: string;
  description: string;
  /** The page's one address. */
  url: string;
  language: Language;
}

/** What messengers and search engines show of a page (Open Graph). There is no picture: docs/decisions.md 15.15. */
export const shareTags = ({ title, description, url, language }: Shared): Html =>
  html`<title>${title}</title>
    <meta name="description" content="${description}" />
    <link rel="canonical" href="${url}" />
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="${messagesOf(language).siteName}" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${description}" />
    <meta property="og:url" content="${url}" />
    <meta property="og:locale" content="${language === "ru" ? "ru_RU" : "en_GB"}" />`;
