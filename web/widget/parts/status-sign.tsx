import type { ServedStatus } from "#src/domain/vocabulary.ts";
import type { Fading } from "#web/widget/age.ts";
import { filled } from "#web/widget/looks.ts";
import { signs } from "#web/widget/signs.ts";

interface Props {
  status: ServedStatus;
  size?: number;
  /** How much it has faded, as on the map (decisions 15.18). */
  fading?: Fading;
}

/** A status's sign as it is on the map; the word stands beside it. */
export const StatusSign = ({ status, size = 24, fading = 0 }: Props) => (
  <svg
    class={`sign ${status}${filled[fading] < 0.5 ? " hollow" : ""}`}
    width={size}
    height={size}
    viewBox={status === "nodata" ? "3.5 3.5 17 17" : "0 0 24 24"}
    aria-hidden="true"
  >
    <path class="outline" d={signs[status].outline} fill-opacity={filled[fading]} />
    <path class="mark" d={signs[status].mark} />
  </svg>
);
