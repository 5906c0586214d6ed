import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { shownStatuses } from "#web/widget/signs.ts";
import { words } from "#web/widget/words.ts";

/** The meaning of the signs; folded away where there is little room. */
export const Legend = () => (
  <details class="legend" open={matchMedia("(min-width: 720px) and (min-height: 560px)").matches}>
    <summary>{words.legend}</summary>
    <ul>
      {shownStatuses.map((status) => (
        <li key={status}>
          <StatusSign status={status} size={18} />
          {words.statuses[status]}
        </li>
      ))}
      <li>
        <span class="badge faded" aria-hidden="true" />
        {words.fading}
      </li>
      <li>
        <span class="badge" aria-hidden="true">
          ?
        </span>
        {words.badges.pending}
      </li>
      <li>
        <span class="badge conflict" aria-hidden="true">
          !
        </span>
        {words.badges.conflict}
      </li>
    </ul>
  </details>
);
