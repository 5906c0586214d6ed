import type { Language } from "#api/pages/messages.ts";
import { servedStatuses, type ServedStatus } from "#src/domain/vocabulary.ts";

/** The subject of a picture: a station with that status, or the map. */
export type Shown = ServedStatus | "map";

export interface SharePicture {
  /** The file's name in web/pictures/, and below `/pictures/`. */
  file: string;
  /** Pixels; messengers show this size without cutting. */
  width: number;
  height: number;
}

export const shownThings: readonly Shown[] = [...servedStatuses, "map"];

/** The picture of a shared page in messengers (decisions 15.15). */
export const sharePicture = (shown: Shown, language: Language): SharePicture => ({
  file: `share-${shown}-${language}.png`,
  ...{ width: 1200, height: 630 },
});
