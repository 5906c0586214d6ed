import { cityName } from "#src/contract/city-name.ts";
import type { City } from "#web/widget/api.ts";
import { cities } from "#web/widget/state.ts";
import { language, locale } from "#web/widget/words.ts";

/** Every city of the country by its name, for who needs one of the smaller ones. */
export const CitySelect = ({
  label,
  onChoose,
}: {
  label: string;
  onChoose: (city: City) => void;
}) => (
  <select
    class="button"
    aria-label={label}
    value=""
    onChange={({ currentTarget }) => onChoose(cities.value[Number(currentTarget.value)]!)}
  >
    <option value="" disabled>
      {label}
    </option>
    {cities.value
      .map(({ name, region }, n) => ({ name: cityName(language, name), region, n }))
      .sort((a, b) => a.name.localeCompare(b.name, locale))
      .map(({ name, region, n }, at, all) => (
        <option key={n} value={n}>
          {/* Two of one name are told apart by their regions. */}
          {all[at - 1]?.name === name || all[at + 1]?.name === name ? `${name} (${region})` : name}
        </option>
      ))}
  </select>
);
