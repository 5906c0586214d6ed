import { useEffect } from "preact/hooks";
import { creditText } from "#src/contract/driver-texts.ts";
import { isEarly } from "#web/widget/early.ts";
import { nearest } from "#web/widget/nearest.ts";
import { AtStation } from "#web/widget/parts/at-station.tsx";
import { later } from "#web/widget/parts/later.tsx";
import { LowerControls, UpperControls } from "#web/widget/parts/controls.tsx";
import { GradeRow } from "#web/widget/parts/grade-row.tsx";
import { Legend } from "#web/widget/parts/legend.tsx";
import { NearestButton, NearestPanel } from "#web/widget/parts/nearest-panel.tsx";
import { Notices } from "#web/widget/parts/notices.tsx";
import { Sketch } from "#web/widget/parts/sketch.tsx";
import { OutboxStrip } from "#web/widget/offline/outbox-strip.tsx";
import { TopBar } from "#web/widget/parts/top-bar.tsx";
import { WaitingMark } from "#web/widget/parts/waiting-mark.tsx";
import { picking } from "#web/widget/picking.ts";
import { page } from "#web/widget/page.ts";
import { depth, panel, selected, stepBack, top } from "#web/widget/panels.ts";
import { sending, waiting } from "#web/widget/sending.ts";
import { baseCredit, canDraw, config } from "#web/widget/state.ts";
import { language, words } from "#web/widget/words.ts";

const Card = later((parts) => parts.Card);
const StationList = later((parts) => parts.StationList);
const FavouritesPanel = later((parts) => parts.FavouritesPanel);
const FilterPanel = later((parts) => parts.FilterPanel);
const MenuPanel = later((parts) => parts.MenuPanel);
const AlongPanel = later((parts) => parts.AlongPanel);
const Suggest = later((parts) => parts.Suggest);
const PickPlace = later((parts) => parts.PickPlace);

/** The map and everything that lies on it. */
export const App = () => {
  useEffect(() => {
    const close = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && depth.value > 0) stepBack();
    };
    document.addEventListener("keydown", close);
    return () => document.removeEventListener("keydown", close);
  }, []);
  // The list that came with the page stays until there is an answer in its place.
  const isHeld = isEarly.value && panel.value === "nearest" && nearest.value.kind !== "asking";
  const which = isHeld ? "none" : panel.value;
  const isAnswer = panel.value === "nearest";
  return (
    <main
      class={`app${canDraw.value ? "" : " listed"}${panel.value === "none" ? "" : " with-panel"}${isAnswer ? " answering" : ""}${picking.value === null ? "" : " picking"}`}
    >
      <h1 class="unseen">{words.title}</h1>
      <div id="map" class="map" />
      <Sketch />
      <div class="over">
        {page.showSearch || page.showFilter ? <TopBar /> : null}
        {page.showFilter ? <GradeRow /> : null}
        <Notices />
        <OutboxStrip />
        {waiting.value === null || waiting.value.stationId === selected.value?.id ? null : (
          <WaitingMark />
        )}
        {(which === "none" || top.value?.resting === true) &&
        waiting.value === null &&
        sending.value === null ? (
          <AtStation />
        ) : null}
        {which === "card" && selected.value !== null ? (
          <Card key={selected.value.id} station={selected.value} />
        ) : null}
        {which === "list" ? <StationList /> : null}
        {which === "nearest" ? <NearestPanel /> : null}
        {which === "favourites" ? <FavouritesPanel /> : null}
        {which === "filters" ? <FilterPanel /> : null}
        {which === "menu" ? <MenuPanel /> : null}
        {which === "along" ? <AlongPanel /> : null}
        {which === "suggest" ? <Suggest station={selected.value} /> : null}
      </div>
      {picking.value === null ? null : <PickPlace />}
      <UpperControls />
      <div class="foot">
        <div class="foot-row">
          <div class="foot-left">
            {canDraw.value ? <Legend /> : null}
            {isAnswer ? null : <NearestButton />}
          </div>
          <LowerControls />
        </div>
        <div class="credit">
          <p class="attribution">
            {[
              creditText(language, config.value?.credits ?? []),
              baseCredit.value ?? config.value?.basemap.attribution,
            ]
              .filter(Boolean)
              .join(" · ")}
          </p>
        </div>
      </div>
    </main>
  );
};
