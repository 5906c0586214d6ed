import { html, type Html } from "#api/pages/html.ts";
import { type Language, messagesOf } from "#api/pages/messages.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { creditText, hoursText, priceText, routeLink } from "#src/contract/driver-texts.ts";
import { isClosedAt } from "#src/domain/closure.ts";
import { lacks } from "#src/domain/grade-answer.ts";
import { gradesIn } from "#src/domain/vocabulary.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import type { ServedFacts } from "#src/feed/feed.ts";
import { parseTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";

/** The parts of a served station that pages write. */
export type Listed = ServedFacts & { fuel: FuelBlock };

/** The station of that id as it is served now; null when there is none. */
export function stationOf({ model, clock }: Pick<PageDeps, "model" | "clock">, id: string) {
  const found = model.station(id, clock());
  return found === null ? null : (JSON.parse(found.fragment.toString("utf8")) as Listed);
}

/** The stations of a query as they are served, the nearest to its centre first. */
export function nearestOf(
  { model }: Pick<PageDeps, "model">,
  query: Omit<Parameters<PageDeps["model"]["query"]>[0], "sort">,
): Listed[] {
  const nearest = model.query({ ...query, sort: "distance" });
  return JSON.parse(
    `[${Buffer.concat(nearest.pieces().map(({ bytes }) => bytes)).toString("utf8")}]`,
  ) as Listed[];
}

/** The credit of a page's stations; null without one. */
export function creditLine(
  { credits }: Pick<PageDeps, "credits">,
  language: Language,
): Html | null {
  const text = creditText(language, credits.list());
  return text === "" ? null : html`<p>${text}</p>`;
}

export const nameOf = ({ name, brand }: Listed): string => name || brand || "—";

/**
 * The facts of a station in the words of drivers: each part one line, without the empty ones. `hoursAt` is asked whether
 * it is closed; without it nothing is said of that.
 */
export function factsOf(
  station: Listed,
  language: Language,
  now: number,
  hoursAt?: PageDeps["model"]["hoursAt"],
) {
  const messages = messagesOf(language);
  const { fuel, opening_hours: hours = "", closed } = station;
  const isShut = closed !== undefined && isClosedAt(closed, now);
  // A grade that is not sold here is not out.
  const out = gradesIn(fuel.fuels_no).filter((grade) => !lacks(station, grade));
  const updated = parseTime(fuel.updated);
  const age =
    updated === null || fuel.status === "nodata"
      ? ""
      : messages.ago(Math.max(0, Math.floor((now - updated) / minuteMs)));
  const basis = fuel.seeded
    ? messages.imported
    : fuel.confirmations > 0
      ? messages.confirmed(fuel.confirmations)
      : "";
  const list = (grades: string): string => gradesIn(grades).map(messages.gradeName).join(", ");
  const facts = [
    isShut || hoursAt?.(hours, station, now) === "closed" ? messages.closedNow : "",
    hours === "" ? "" : hoursText(language, hours),
    fuel.fuels_now === "" ? "" : `${messages.available} ${list(fuel.fuels_now)}`,
    out.length === 0 ? "" : `${messages.missing} ${list(out.join())}`,
    fuel.queue === "" ? "" : messages.queue(fuel.queue),
    fuel.limit_l === null ? "" : messages.limit(fuel.limit_l),
    fuel.no_cash ? messages.noCash : "",
    fuel.fuel_cards_only ? messages.cardsOnly : "",
  ];
  const prices = (fuel.prices ?? "")
    .split(",")
    .filter(Boolean)
    .map((pair) => {
      const [grade = "", price = ""] = pair.split("=");
      return `${messages.gradeName(grade)}: ${priceText(language, price)}`;
    });
  const waiting =
    fuel.pending_status === ""
      ? ""
      : messages.pending(messages.statuses[fuel.pending_status].toLowerCase(), fuel.pending_count);
  return {
    status: messages.statuses[fuel.status],
    facts: joined(facts),
    prices,
    doubt: fuel.conflict !== null ? messages.conflict : waiting,
    age: joined([age, age === "" ? "" : basis]),
  };
}

const joined = (parts: string[]): string => parts.filter(Boolean).join(" · ");

/** The way there, in the maps of the device that asks. */
export const routeTo = (station: Listed, language: Language, userAgent: string): Html => {
  const { route } = messagesOf(language);
  const { href } = routeLink(station, nameOf(station), language, userAgent);
  const label = `${route}: ${nameOf(station)}`;
  return html`<a class="route" href="${href}" rel="noopener noreferrer" aria-label="${label}"
    >${route}</a
  >`;
};
