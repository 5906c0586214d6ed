import { useSignal } from "@preact/signals";
import { ChipGroup } from "#web/widget/parts/chip-group.tsx";
import { brandsInView } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

const firstShown = 8;

interface Props {
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** The brands in view, the largest first; those that are chosen stay, also where the map has moved away from them. */
export const BrandChips = ({ chosen, onChange }: Props) => {
  const all = useSignal(false);
  const counts = new Map(brandsInView.value);
  const absent = chosen.filter((brand) => !counts.has(brand));
  const brands = [...absent, ...counts.keys()];
  if (brands.length === 0) return null;
  const shown = all.value
    ? brands
    : brands.filter((brand, n) => n < firstShown || chosen.includes(brand));
  return (
    <>
      <ChipGroup
        title={words.brand}
        items={shown}
        chosen={chosen}
        label={(brand) => words.brandOf(brand, counts.get(brand) ?? 0)}
        onChange={onChange}
      />
      {shown.length === brands.length ? null : (
        <button type="button" class="button wide" onClick={() => (all.value = true)}>
          {words.moreBrands}
        </button>
      )}
    </>
  );
};
