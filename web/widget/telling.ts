import { effect } from "@preact/signals";
import type { ServedStatus, Status } from "#src/domain/vocabulary.ts";
import { page } from "#web/widget/page.ts";
import { selected } from "#web/widget/panels.ts";

/** Messages to the page around the map (decisions 15.17): only facts that the map shows. */
type Told =
  | { type: "fuelmark:ready" }
  | { type: "fuelmark:height"; height: number }
  | { type: "fuelmark:station-unknown"; station_id: string }
  | { type: "fuelmark:station-opened"; station_id: string; status: ServedStatus }
  | { type: "fuelmark:mark-sent"; station_id: string; status: Status; outcome: string };

/** Tells it by `postMessage`, to the origin that the browser has named as the embedding page's, and to no other. */
export function tell(what: Told): void {
  if (embedder !== null) window.parent.postMessage(what, embedder);
}

/** Tells how high what is in the open panel is, in pixels; 0 when none is open. The page may make the frame fit it. */
export function tellOfHeight(): void {
  if (embedder === null) return;
  let told = 0;
  let isDue = false;
  const measure = (): void => {
    isDue = false;
    const body = document.querySelector(".panel-body");
    const head = body?.previousElementSibling?.getBoundingClientRect().height ?? 0;
    const height = body === null ? 0 : Math.ceil(head + wholeOf(body)) + rims;
    if (height !== told) tell({ type: "fuelmark:height", height });
    told = height;
  };
  const soon = (): void => {
    if (!isDue) requestAnimationFrame(measure);
    isDue = true;
  };
  const changes = { childList: true, characterData: true, subtree: true };
  // `open`: what is unfolded is there before.
  new MutationObserver(soon).observe(document.body, { ...changes, attributeFilter: ["open"] });
  addEventListener("resize", soon);
}

/** The lines around a panel, pixels. */
const rims = 2;

/** The height of all that is in a panel, pixels; not that of the panel, which may fill a frame that was made to fit it. */
function wholeOf(body: Element): number {
  if (body.scrollHeight > body.clientHeight) return body.scrollHeight;
  const { top } = body.getBoundingClientRect();
  const px = (one: Element, of: "marginBottom" | "paddingBottom") =>
    Number.parseFloat(getComputedStyle(one)[of]);
  const ends = [...body.children].map(
    (one) => one.getBoundingClientRect().bottom + px(one, "marginBottom"),
  );
  return Math.max(top, ...ends) - top + px(body, "paddingBottom");
}

/** Tells of each card that is opened. */
export function tellOfCards(): void {
  let told: string | null = null;
  effect(() => {
    const station = selected.value;
    if (station !== null && station.id !== told)
      tell({
        type: "fuelmark:station-opened",
        station_id: station.id,
        status: station.fuel.status,
      });
    told = station?.id ?? null;
  });
}

/**
 * The origin of the page around, as the browser names it; null: there is none. The referrer is the map itself once the
 * frame has gone to another language; some browsers tell only that.
 */
export const embedder = page.framed
  ? (originOf(location.ancestorOrigins?.[0] ?? "") ?? originOf(document.referrer))
  : null;

function originOf(address: string): string | null {
  try {
    return new URL(address).origin;
  } catch {
    return null;
  }
}
