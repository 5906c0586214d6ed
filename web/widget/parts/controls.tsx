import { distanceM } from "#src/domain/geo.ts";
import { nearRadiiKm } from "#src/domain/grade-answer.ts";
import { Icon, type IconName } from "#web/kit/icon.tsx";
import { favourites } from "#web/widget/favourites.ts";
import { map } from "#web/widget/map-handle.ts";
import { say } from "#web/widget/message.ts";
import { nearestStation } from "#web/widget/nearest.ts";
import { locate, mayLocate } from "#web/widget/position.ts";
import { closePanels, openPanel, panel } from "#web/widget/panels.ts";
import { canDraw } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

const placeZoom = 13;
/** Surely within a view at that zoom, on a phone too. */
const inSightM = 1000;

interface ControlProps {
  icon: IconName;
  label: string;
  onClick: () => void;
  expanded?: boolean;
}

const Control = ({ icon, label, onClick, expanded }: ControlProps) => (
  <button
    type="button"
    class="control"
    aria-label={label}
    title={label}
    {...(expanded === undefined ? {} : { "aria-expanded": expanded })}
    onClick={onClick}
  >
    <Icon name={icon} />
  </button>
);

/** Buttons on the map. A button that the browser or the address does not allow is left out. */
export const UpperControls = () => (
  <div class="controls upper">
    {canDraw.value ? <Toggle icon="list" label={words.list} opens="list" /> : null}
    {favourites.value.length === 0 ? null : (
      <Toggle icon="star" label={words.favourites} opens="favourites" />
    )}
    <Toggle icon="more" label={words.menu} opens="menu" />
  </div>
);

const Toggle = ({
  opens,
  ...props
}: Omit<ControlProps, "onClick" | "expanded"> & { opens: "list" | "favourites" | "menu" }) => (
  <Control
    {...props}
    expanded={panel.value === opens}
    onClick={() => (panel.value === opens ? closePanels() : openPanel(opens))}
  />
);

/** Buttons within reach of a thumb: locate and zoom. */
export const LowerControls = () =>
  map.value === null ? null : (
    <div class="controls lower">
      {!mayLocate.value ? null : (
        <Control icon="locate" label={words.locate} onClick={() => void goToViewer()} />
      )}
      <Control icon="plus" label={words.zoomIn} onClick={() => map.value?.zoomBy(1)} />
      <Control icon="minus" label={words.zoomOut} onClick={() => map.value?.zoomBy(-1)} />
    </div>
  );

async function goToViewer(): Promise<void> {
  const found = await locate();
  if (found === "denied") say(words.notices.positionDenied);
  else if (found === "unknown") say(words.notices.noPosition);
  else {
    map.value?.go({ lat: found.lat, lon: found.lon, zoom: placeZoom });
    const near = await nearestStation(found);
    // A view without any station answers nothing: the nearest belongs to it, however far.
    if (near === "none") say(words.noneWithin(nearRadiiKm.at(-1)!));
    else if (near !== "unknown" && distanceM(found, near) > inSightM) map.value?.fit([found, near]);
  }
}
