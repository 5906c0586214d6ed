import type { Language } from "#api/pages/messages.ts";
import { servedStatuses, type ServedStatus } from "#src/domain/vocabulary.ts";

/** What a picture is of: a station with that status, or the map. */
export type Shown = ServedStatus | "map";

export interface SharePicture {
  /** In web/pictures/, and below `/pictures/`. */
  file: string;
  /** Pixels: what messengers show without cutting. */
  width: number;
  height: number;
}

export const shownThings: readonly Shown[] = [...servedStatuses, "map"];

/** What messengers show of a shared page (decisions 15.15). */
export const sharePicture = (shown: Shown, language: Language): SharePicture => ({
  file: `share-${shown}-${language}.png`,
  ...{ width: 1200, height: 630 },
});
