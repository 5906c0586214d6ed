import type { StillWithdrawn } from "#src/contract/console-review.ts";
import { say } from "#web/console/words.ts";

/** How many marks stay withdrawn after a rollback is taken back, and why (decisions 4.23); "" for none. */
export const stillWords = ({ still_withdrawn: n = 0, withdrawn_by: by = [] }: Still): string =>
  n === 0
    ? ""
    : say(
        "{n} {n|mark stays|marks stay} withdrawn, because other rollbacks cover {n|it|them} too: {ids}.",
        {
          n,
          ids: by.map((id) => `#${id}`).join(", "),
        },
      );

/** What a page says after a decision was taken back. */
export const undoneWords = (still: Still): string =>
  `${say("The decision was taken back")}. ${stillWords(still)}`.replace(/\. $/, "");

type Still = Partial<StillWithdrawn>;
