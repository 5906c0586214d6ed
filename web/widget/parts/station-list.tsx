import { loading } from "#web/widget/loader.ts";
import { FavouritesButton } from "#web/widget/parts/favourites.tsx";
import { GradeRow } from "#web/widget/parts/grade-row.tsx";
import { useClosed } from "#web/widget/parts/hours-line.tsx";
import { NearestButton } from "#web/widget/parts/nearest-panel.tsx";
import { Panel } from "#web/widget/parts/panel.tsx";
import { StationRow } from "#web/widget/parts/station-row.tsx";
import { grade } from "#web/widget/grade.ts";
import { page } from "#web/widget/page.ts";
import { position } from "#web/widget/position.ts";
import { anyInView, canDraw, canSee, haveGrade, inView } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

const listedMax = 60;

/** The stations in view as a list: the same as on the map, for keyboards, readers and browsers that cannot draw it. */
export const StationList = () => {
  const all = inView.value;
  const have = haveGrade.value;
  useClosed(all.slice(0, listedMax).map(({ station }) => station));
  const empty =
    loading.value || !canSee.value
      ? words.notices.loading
      : anyInView.value
        ? words.nothingMatches
        : words.nothingInView;
  return (
    <Panel
      title={
        have === null || grade.value === null
          ? words.stationsInView(all.length)
          : words.haveGrade(have.have, have.of, grade.value)
      }
    >
      {page.showFilter ? <GradeRow /> : null}
      {canDraw.value ? null : <NearestButton />}
      <FavouritesButton />
      {all.length === 0 ? <p class="empty">{empty}</p> : null}
      <ul class="stations">
        {all.slice(0, listedMax).map(({ station, distance }) => (
          <StationRow
            key={station.id}
            station={station}
            distance={distance}
            isOwn={position.value !== null}
          />
        ))}
      </ul>
      {all.length > listedMax ? <p class="hint">{words.first(listedMax)}</p> : null}
    </Panel>
  );
};
