import { useEffect } from "preact/hooks";
import { map } from "#web/widget/map-handle.ts";
import { Card } from "#web/widget/parts/card.tsx";
import { LowerControls, UpperControls } from "#web/widget/parts/controls.tsx";
import { FilterPanel } from "#web/widget/parts/filter-panel.tsx";
import { Legend } from "#web/widget/parts/legend.tsx";
import { Notices } from "#web/widget/parts/notices.tsx";
import { StationList } from "#web/widget/parts/station-list.tsx";
import { TopBar } from "#web/widget/parts/top-bar.tsx";
import { page } from "#web/widget/page.ts";
import { canDraw, closePanel, config, panel, selected } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

/** The map and everything that lies on it. */
export const App = () => {
  useEffect(() => {
    const close = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && panel.value !== "none") closePanel();
    };
    document.addEventListener("keydown", close);
    return () => document.removeEventListener("keydown", close);
  }, []);
  const which = panel.value;
  return (
    <main class={`app${canDraw.value ? "" : " listed"}${which === "none" ? "" : " with-panel"}`}>
      <h1 class="unseen">{words.title}</h1>
      <div id="map" class="map" />
      <div class="over">
        {page.showSearch || page.showFilter ? <TopBar /> : null}
        <Notices />
        {which === "card" && selected.value !== null ? (
          <Card key={selected.value.id} station={selected.value} />
        ) : null}
        {which === "list" ? <StationList /> : null}
        {which === "filters" ? <FilterPanel /> : null}
      </div>
      {map.value === null ? null : <UpperControls />}
      <div class="foot">
        <div class="foot-row">
          {canDraw.value ? <Legend /> : null}
          {map.value === null ? null : <LowerControls />}
        </div>
        <div class="credit">
          <p class="attribution">
            {[words.attribution, config.value?.basemap.attribution ?? ""]
              .filter(Boolean)
              .join(" · ")}
          </p>
        </div>
      </div>
    </main>
  );
};
