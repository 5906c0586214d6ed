import type { ServedStatus } from "#src/domain/vocabulary.ts";
import { signs } from "#web/widget/signs.ts";

/** A status's sign as it is on the map; the word stands beside it. */
export const StatusSign = ({ status, size = 24 }: { status: ServedStatus; size?: number }) => (
  <svg
    class={`sign ${status}`}
    width={size}
    height={size}
    viewBox={status === "nodata" ? "3.5 3.5 17 17" : "0 0 24 24"}
    aria-hidden="true"
  >
    <path class="outline" d={signs[status].outline} />
    <path class="mark" d={signs[status].mark} />
  </svg>
);
