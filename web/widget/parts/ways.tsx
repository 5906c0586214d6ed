import { geoLink, opensGeo, routeLinks } from "#src/contract/driver-texts.ts";
import { Icon } from "#web/kit/icon.tsx";
import type { Station } from "#web/widget/api.ts";
import { say } from "#web/widget/message.ts";
import { page } from "#web/widget/page.ts";
import { Star } from "#web/widget/parts/favourites.tsx";
import { stationName } from "#web/widget/station-name.ts";
import { language, words } from "#web/widget/words.ts";

/** The way to the station in the phone's own maps, and to tell others of it. */
export const Ways = ({ station }: { station: Station }) => {
  const name = stationName(station);
  const links = routeLinks(station, language);
  const apps = opensGeo(navigator.userAgent)
    ? [{ app: words.phoneMaps, href: geoLink(station, name) }, ...links]
    : links;
  return (
    <div class="ways">
      <details>
        <summary>
          <Icon name="route" />
          {words.otherMaps}
        </summary>
        <ul>
          {apps.map(({ app, href }) => (
            <li key={app}>
              <a href={href} target="_blank" rel="noopener noreferrer">
                {app}
              </a>
            </li>
          ))}
        </ul>
      </details>
      {page.framed ? null : <Share station={station} />}
      <Star station={station} />
    </div>
  );
};

/** Shares the station's page. It is left out in a frame, because that page is the operator's own. */
const Share = ({ station }: { station: Station }) => {
  const address = new URL(`s/${encodeURIComponent(station.id)}`, page.root);
  // Messengers read the page in no language of their own.
  if (language !== "en") address.searchParams.set("lang", language);
  const { href } = address;
  const share = async (): Promise<void> => {
    if (navigator.share !== undefined)
      return navigator.share({ title: stationName(station), url: href }).catch(() => {});
    await navigator.clipboard.writeText(href);
    say(words.linkCopied);
  };
  return (
    <a
      class="share"
      href={href}
      aria-label={words.share}
      title={words.share}
      onClick={(event) => {
        event.preventDefault();
        // Without the right to copy, the page itself opens.
        share().catch(() => location.assign(href));
      }}
    >
      <Icon name="share" />
    </a>
  );
};
