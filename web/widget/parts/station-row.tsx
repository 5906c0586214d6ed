import { distanceText, priceText, routeLink } from "#src/contract/driver-texts.ts";
import { hasFuel, lacks, type Near, priceOf, stationAnswer } from "#src/domain/grade-answer.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { Icon } from "#web/kit/icon.tsx";
import { ageMinOf, fadingOf } from "#web/widget/age.ts";
import type { Station } from "#web/widget/api.ts";
import { isClosed } from "#web/widget/closed.ts";
import { expire } from "#web/widget/filters.ts";
import { isFavourite } from "#web/widget/favourites.ts";
import { grade } from "#web/widget/grade.ts";
import { openCard } from "#web/widget/panels.ts";
import { Chance } from "#web/widget/parts/chance.tsx";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { config, now } from "#web/widget/state.ts";
import { addressBeside, stationName } from "#web/widget/station-name.ts";
import { asHeardSince } from "#web/widget/take-back.ts";
import { language, namesOf, words } from "#web/widget/words.ts";

interface Props extends Near<Station> {
  /** The distance is from the driver, and not from the middle of the map. */
  isOwn: boolean;
  /** Where it is, in place of the distance. */
  where?: string;
}

/** A station in a list: its distance, its answer about the grade, and the way there. */
export const StationRow = ({ station: told, distance, isOwn, where }: Props) => {
  const newest = asHeardSince(told);
  // As on the map and the card, also while the service cannot be asked.
  const fuel = expire(newest.fuel, now.value, config.value?.stale_after_hours ?? 24);
  const station = { ...newest, fuel };
  const answer = stationAnswer(station, grade.value);
  const isLacking = grade.value !== null && lacks(station, grade.value);
  const name = stationName(station);
  const fading = fadingOf(station, grade.value, now.value);
  const price = grade.value === null ? null : priceOf(fuel.prices, grade.value);
  const answerWord = isLacking
    ? words.notSold(grade.value!)
    : answer === "nodata" && price !== null
      ? words.onlyPrice
      : words.statuses[answer];
  return (
    <li class="station-row">
      <button type="button" data-id={station.id} onClick={() => openCard(station, { fly: true })}>
        <StatusSign status={answer} fading={fading} />
        <span class="lines">
          <span>
            {name}
            {isFavourite(station.id) ? <Icon name="star" size={14} /> : null}
          </span>
          <small>
            {isClosed(station) ? <strong class="closed">{words.closedNow} · </strong> : null}
            {facts(fuel, where ?? (isOwn ? distanceText(language, distance) : ""))}
          </small>
        </span>
        <span class={`lines end ${answer}${fading > 1 ? " aged" : ""}`}>
          <span class="status-word">{answerWord}</span>
          {price === null ? null : (
            <span class={`row-price${hasFuel(answer) ? "" : " old"}`}>
              {`${words.gradeName(grade.value!)}: ${priceText(language, price)}`}
            </span>
          )}
          <small>{ageOf(fuel)}</small>
        </span>
        <span class="lines more">
          <Chance station={station} />
          <small>{addressBeside(station)}</small>
        </span>
      </button>
      <a
        class="round"
        href={routeLink(station, name, language, navigator.userAgent).href}
        target="_blank"
        rel="noopener noreferrer"
        aria-label={words.routeTo(name)}
        title={words.route}
      >
        <Icon name="route" />
      </a>
    </li>
  );
};

function facts(fuel: FuelBlock, where: string): string {
  const there = grade.value === null ? namesOf(fuel.fuels_now) : "";
  return [where, there, fuel.queue === "" ? "" : words.queueCars(fuel.queue)]
    .filter(Boolean)
    .join(" · ");
}

function ageOf(fuel: FuelBlock): string {
  const ageMin = ageMinOf(fuel, now.value);
  return ageMin === null ? "" : words.ago(ageMin);
}
