import { cities, cityUnknown } from "#web/embed/cities.ts";
import { choices, choose } from "#web/embed/choices.ts";
import { Field } from "#web/embed/field.tsx";
import { words } from "#web/embed/words.ts";

/** The place at which the map opens. */
export const PlacePart = () => {
  const { place } = choices.value;
  return (
    <fieldset>
      <legend>{words.opens}</legend>
      <div class="places">
        {(["start", "city", "point"] as const).map((one) => (
          <label key={one} class="check">
            <input
              type="radio"
              name="place"
              checked={place === one}
              onChange={() => choose({ place: one })}
            />
            {words.places[one]}
          </label>
        ))}
      </div>
      {place === "city" ? (
        <Field name="city" label={words.city}>
          {cityUnknown.value ? (
            <>
              {cities.value!.length === 0 ? <p class="fault">{words.cityUnknown}</p> : null}
              <div class="found">
                {cities.value!.map(({ name, region }) => (
                  <button
                    key={`${name} ${region}`}
                    type="button"
                    onClick={() => choose({ city: name })}
                  >
                    {name} <small>{region}</small>
                  </button>
                ))}
              </div>
            </>
          ) : null}
        </Field>
      ) : null}
      {place === "point" ? (
        <div class="three">
          <Field name="lat" label={words.lat} mode="decimal" placeholder="55.7558" />
          <Field name="lon" label={words.lon} mode="decimal" placeholder="37.6173" />
          <Field name="zoom" label={words.zoom} mode="decimal" />
        </div>
      ) : null}
    </fieldset>
  );
};
