import { parseParams } from "#web/widget/params.ts";

const meta = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";

const framed = isFramed();
const { params, warnings } = parseParams(location.search, framed);
for (const warning of warnings) console.warn(warning);

/** The page's settings, from its address and from the server that wrote it. */
export const page = {
  ...params,
  /** The operator's own key on the map at `/`, else the one in the address. */
  key: meta("key") || params.key,
  /** The operator's own map at `/`, and not a partner's widget. */
  isOwnMap: meta("key") !== "",
  /** The service's address, with a slash at its end. */
  root: new URL(meta("root") || "./", document.baseURI).href,
  api: new URL(`${meta("root")}api/v1/partner`, document.baseURI).href,
  framed,
  /** The station whose card is open at the start; empty: none. */
  station: meta("station") || params.station,
};

function isFramed(): boolean {
  try {
    return window.self !== window.top;
  } catch {
    return true;
  }
}
