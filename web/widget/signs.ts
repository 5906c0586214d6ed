import type { ServedStatus } from "#src/domain/vocabulary.ts";

/** A status is told by shape as well as by colour: outlines on a square of 24, and the sign inside them. */
interface Sign {
  outline: string;
  /** Drawn as strokes in white on the outline. */
  mark: string;
  /** Custom property of web/kit/tokens.css. */
  colour: `--${ServedStatus}`;
}

export const signs: Record<ServedStatus, Sign> = {
  yes: {
    outline: "M12 1.5a10.5 10.5 0 1 0 0 21a10.5 10.5 0 1 0 0-21z",
    mark: "M7 12.4l3.4 3.4L17 9",
    colour: "--yes",
  },
  low: {
    outline:
      "M12 1.2c.9 0 1.7.5 2.1 1.2l9 16.5c.9 1.6-.3 3.6-2.1 3.6H3c-1.8 0-3-2-2.1-3.6l9-16.5c.4-.7 1.2-1.2 2.1-1.2z",
    mark: "M12 8.5v6.2M12 18.3v.1",
    colour: "--low",
  },
  queue: {
    outline:
      "M5 1.8h14a3.2 3.2 0 0 1 3.2 3.2v14a3.2 3.2 0 0 1-3.2 3.2H5a3.2 3.2 0 0 1-3.2-3.2V5A3.2 3.2 0 0 1 5 1.8z",
    mark: "M7 8h10M7 12h10M7 16h10",
    colour: "--queue",
  },
  no: {
    outline: "M7.9 1.5h8.2L22.5 7.9v8.2L16.1 22.5H7.9L1.5 16.1V7.9z",
    mark: "M8.3 8.3l7.4 7.4M15.7 8.3l-7.4 7.4",
    colour: "--no",
  },
  nodata: {
    outline: "M12 5a7 7 0 1 0 0 14a7 7 0 1 0 0-14z",
    mark: "M9.5 12h5",
    colour: "--nodata",
  },
};

/** The order in which statuses are named, and in which a cluster's ring shows them. */
export const shownStatuses: readonly ServedStatus[] = ["yes", "low", "queue", "no", "nodata"];
