import { priceText } from "#src/contract/driver-texts.ts";
import { answerFor, hasFuel, lacks, priceOf } from "#src/domain/grade-answer.ts";
import { grades } from "#src/domain/vocabulary.ts";
import { Icon } from "#web/kit/icon.tsx";
import type { Station } from "#web/widget/api.ts";
import { language, namesOf, words } from "#web/widget/words.ts";

/** Grades, prices and conditions, as far as drivers have told them. */
export const CardFacts = ({ station }: { station: Station }) => {
  const { fuel, grades_sold: sold = "" } = station;
  const conditions = [
    fuel.status === "nodata" && sold !== "" ? words.sells(namesOf(sold)) : "",
    fuel.queue === "" ? "" : words.queueCars(fuel.queue),
    fuel.limit_l === null ? "" : words.limit(fuel.limit_l),
    fuel.no_cash ? words.noCash : "",
    fuel.fuel_cards_only ? words.cardsOnly : "",
  ].filter(Boolean);
  return (
    <>
      <Grades station={station} />
      {conditions.length === 0 ? null : (
        <ul class="conditions">
          {conditions.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {fuel.seeded ? (
        <p class="basis">
          <Icon name="alert" size={18} />
          {words.imported}
        </p>
      ) : fuel.confirmations > 0 && fuel.real_count !== fuel.confirmations ? (
        <p class="basis">
          <Icon name="people" size={18} />
          {words.devices(fuel.real_count)}
        </p>
      ) : null}
    </>
  );
};

/** Every grade, whether it is there, and its price; a grade that is out has its last known price. */
const Grades = ({ station }: { station: Station }) => {
  const { fuel } = station;
  if (fuel.status === "nodata" && (fuel.prices ?? "") === "") return null;
  return (
    <section class="grades">
      <h3>{words.gradesAndPrices}</h3>
      <ul>
        {grades.map((grade) => {
          const answer = answerFor(fuel, grade);
          const known = lacks(station, grade)
            ? "unsold"
            : hasFuel(answer)
              ? "there"
              : answer === "no"
                ? "gone"
                : "unknown";
          const price = priceOf(fuel.prices, grade);
          return (
            <li key={grade} class={known}>
              <strong>{words.gradeName(grade)}</strong>
              <span class="known" aria-hidden="true">
                {signOf[known]}
              </span>
              <span class="unseen">{known === "unknown" ? words.notKnown : words[known]}</span>
              <span class="per-litre">{price === null ? "" : priceText(language, price)}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
};

const signOf = { there: "✓", gone: "✕", unknown: "?", unsold: "–" } as const;
