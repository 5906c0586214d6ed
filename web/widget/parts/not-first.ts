// Everything that the first list does not need, as one piece: each shares most of its code with the others.
export { AlongPanel } from "#web/widget/parts/along-panel.tsx";
export { Card } from "#web/widget/parts/card.tsx";
export { FavouritesPanel } from "#web/widget/parts/favourites.tsx";
export { FilterPanel } from "#web/widget/parts/filter-panel.tsx";
export { HistoryStrip } from "#web/widget/parts/history-strip.tsx";
export { MenuPanel } from "#web/widget/parts/menu.tsx";
export { PickPlace } from "#web/widget/parts/pick-place.tsx";
export { StationList } from "#web/widget/parts/station-list.tsx";
export { Suggest } from "#web/widget/parts/suggest.tsx";
export { TellMe } from "#web/widget/parts/tell-me.tsx";
export { search } from "#web/widget/search.ts";
