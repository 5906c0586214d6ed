import { priceText } from "#src/contract/driver-texts.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { Icon } from "#web/kit/icon.tsx";
import { language, words } from "#web/widget/words.ts";

const items = (list: string): string[] => list.split(",").filter((item) => item !== "");

/** Grades, prices and conditions, as far as drivers have told them. */
export const CardFacts = ({ fuel }: { fuel: FuelBlock }) => {
  const [there, gone] = [items(fuel.fuels_now), items(fuel.fuels_no)];
  const prices = items(fuel.prices ?? "").map((pair) => pair.split("=") as [string, string]);
  const conditions = [
    fuel.queue === "" ? "" : words.queueCars(fuel.queue),
    fuel.limit_l === null ? "" : words.limit(fuel.limit_l),
    fuel.no_cash ? words.noCash : "",
    fuel.fuel_cards_only ? words.cardsOnly : "",
  ].filter(Boolean);
  const sure =
    fuel.confirmations > 0
      ? [
          words.confirmed(fuel.confirmations),
          ...(fuel.real_count === fuel.confirmations ? [] : [words.devices(fuel.real_count)]),
        ].join(", ")
      : "";
  return (
    <>
      {there.length + gone.length === 0 ? null : (
        <dl class="grades">
          {there.length === 0 ? null : (
            <div>
              <dt>{words.available}</dt>
              <dd>
                {there.map((grade) => (
                  <span key={grade} class="grade yes">
                    {grade}
                  </span>
                ))}
              </dd>
            </div>
          )}
          {gone.length === 0 ? null : (
            <div>
              <dt>{words.missing}</dt>
              <dd>
                {gone.map((grade) => (
                  <s key={grade} class="grade gone">
                    {grade}
                  </s>
                ))}
              </dd>
            </div>
          )}
        </dl>
      )}
      {prices.length === 0 ? null : (
        <div class="prices">
          <h3>
            {words.prices} <span>{words.perLitre}</span>
          </h3>
          <dl>
            {prices.map(([grade, price]) => (
              <div key={grade}>
                <dt>{grade}</dt>
                <dd>{priceText(language, price)}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
      {conditions.length === 0 ? null : (
        <ul class="conditions">
          {conditions.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {sure === "" && !fuel.seeded ? null : (
        <p class="basis">
          <Icon name={fuel.seeded ? "alert" : "people"} size={18} />
          {fuel.seeded ? words.imported : sure}
        </p>
      )}
    </>
  );
};
