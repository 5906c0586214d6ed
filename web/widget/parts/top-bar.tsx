import { Icon } from "#web/kit/icon.tsx";
import { filtersOn } from "#web/widget/filters.ts";
import { page } from "#web/widget/page.ts";
import { Search } from "#web/widget/parts/search.tsx";
import { closePanels, openPanel, panel } from "#web/widget/panels.ts";
import { filters } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

/** Search and filters, where the address does not hide them. */
export const TopBar = () => {
  const count = filtersOn(filters.value);
  const open = panel.value === "filters";
  return (
    <div class="top-bar">
      {page.showSearch ? <Search /> : null}
      {page.showFilter ? (
        <button
          type="button"
          class={`tool${page.showSearch ? "" : " wide"}`}
          aria-expanded={open}
          aria-label={count === 0 ? words.filters : words.filtersOn(count)}
          title={words.filters}
          onClick={() => (open ? closePanels() : openPanel("filters"))}
        >
          <Icon name="filter" />
          {page.showSearch ? null : <span>{words.filters}</span>}
          {count === 0 ? null : (
            <span class="count" aria-hidden="true">
              {count}
            </span>
          )}
        </button>
      ) : null}
    </div>
  );
};
