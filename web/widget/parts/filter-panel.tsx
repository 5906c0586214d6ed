import type { ServedStatus } from "#src/domain/vocabulary.ts";
import { type Filters, noFilters } from "#web/widget/filters.ts";
import { BrandChips } from "#web/widget/parts/brand-chips.tsx";
import { ChipGroup } from "#web/widget/parts/chip-group.tsx";
import { Panel } from "#web/widget/parts/panel.tsx";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { shownStatuses } from "#web/widget/signs.ts";
import { closePanels } from "#web/widget/panels.ts";
import { config, filters, inView } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

const ages = [1, 3, 6, 12] as const;

/** The filters of the API; the map follows them at once. */
export const FilterPanel = () => {
  const now = filters.value;
  const set = (change: Partial<Filters>): void => {
    filters.value = { ...now, ...change };
  };
  return (
    <Panel title={words.filters}>
      <ChipGroup
        title={words.mustHave}
        items={config.value?.grades ?? []}
        chosen={now.grades}
        label={words.gradeName}
        onChange={(grades) => set({ grades })}
      />
      <ChipGroup<ServedStatus>
        title={words.status}
        items={shownStatuses}
        chosen={now.statuses}
        label={(status) => (
          <>
            <StatusSign status={status} size={18} />
            {words.statuses[status]}
          </>
        )}
        onChange={(statuses) => set({ statuses })}
      />
      <BrandChips chosen={now.brands} onChange={(brands) => set({ brands })} />
      <ChipGroup
        title={words.queue}
        items={config.value?.queues ?? []}
        chosen={now.queues}
        label={(bucket) => words.queueOf(bucket)}
        onChange={(queues) => set({ queues })}
      />
      <fieldset class="group">
        <legend>{words.fresh}</legend>
        <div class="chips">
          {[null, ...ages].map((age) => (
            <label key={age ?? 0} class="chip">
              <input
                type="radio"
                name="fresh"
                checked={now.freshH === age}
                onChange={() => set({ freshH: age })}
              />
              <span>{age === null ? words.anyAge : words.hours(age)}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <label class="switch">
        <input
          type="checkbox"
          checked={now.priced}
          onChange={({ currentTarget }) => set({ priced: currentTarget.checked })}
        />
        {words.withPrice}
      </label>
      <div class="actions">
        <button type="button" class="button" onClick={() => (filters.value = noFilters)}>
          {words.reset}
        </button>
        <button type="button" class="button primary" onClick={closePanels}>
          {words.show(inView.value.length)}
        </button>
      </div>
    </Panel>
  );
};
