import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ConsoleStationPage } from "#src/contract/console.ts";
import { say } from "#web/console/words.ts";

const zoom = 15;

/**
 * The public map with a station's card, in a frame that is loaded when somebody wants to see it (decisions 13.18).
 * A station that is out of service has no card: then only a link to the place.
 */
export function StationPlace({
  station: { id, lat, lon, removed },
}: {
  station: ConsoleStationPage["station"];
}) {
  const [open, setOpen] = useState(false);
  const card = `../s/${encodeURIComponent(id)}`;
  return (
    <div class="card">
      <div class="title">
        <h2>{say("Where it is")}</h2>
        {removed ? (
          <a href={`../?lat=${lat}&lon=${lon}&zoom=${zoom}`} target="_blank" rel="noreferrer">
            {say("The public map there")}
          </a>
        ) : (
          <>
            <a href={card} target="_blank" rel="noreferrer">
              {say("Its public card")}
            </a>
            <Button aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? say("Hide the map") : say("Show the map")}
            </Button>
          </>
        )}
      </div>
      {open && !removed && (
        // A new frame for each place: the map reads it when it is loaded.
        <iframe key={`${lat} ${lon}`} class="place" src={card} title={say("The public map")} />
      )}
    </div>
  );
}
