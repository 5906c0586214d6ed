import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { minuteMs } from "#src/domain/units.ts";
import { filtersOn } from "#web/widget/filters.ts";
import { incomplete, loading, shownFrom, trouble, type Trouble } from "#web/widget/loader.ts";
import { message } from "#web/widget/message.ts";
import { grade } from "#web/widget/grade.ts";
import { offlineWords } from "#web/widget/offline/words-offline.ts";
import { panel } from "#web/widget/panels.ts";
import {
  anyInView,
  canSee,
  config,
  filters,
  haveGrade,
  inView,
  noMap,
  now,
} from "#web/widget/state.ts";
import { page } from "#web/widget/page.ts";
import { language, words } from "#web/widget/words.ts";

/** Warnings about the shown stations: one sentence at a time, the gravest. */
export const Notices = () => {
  const text = sentence();
  return (
    <div class="notices" role="status" aria-live="polite">
      {trouble.value?.kind === "limited" ? <Countdown trouble={trouble.value} /> : null}
      {text === null ? null : (
        <p class={`notice${trouble.value === null ? "" : " trouble"}`}>{text}</p>
      )}
      <Incident />
    </div>
  );
};

/** What the operator tells of an open incident, in one line that leads to all of it. */
const Incident = () => {
  const told = config.value?.incident ?? null;
  if (told === null || panel.value === "card" || panel.value === "filters") return null;
  return (
    <p class="notice">
      <a href={`${page.root}status`} target="_blank" rel="noopener">
        {language === "en" || told.ru === null ? <span lang="en">{told.en}</span> : told.ru}
      </a>
    </p>
  );
};

function sentence(): string | null {
  if (message.value !== null) return message.value;
  switch (trouble.value?.kind) {
    case "offline":
      return heldAgo() === null ? words.notices.offline : offlineWords.offlineSince(heldAgo()!);
    case "unavailable":
      return words.notices.unavailable;
    case "refused":
      return words.notices.refused;
    case "limited":
      return null;
    case undefined:
      break;
  }
  if (noMap.value !== null && panel.value === "list")
    return noMap.value === "failed" ? words.notices.mapFailed : words.notices.noWebgl;
  if (incomplete.value) return words.notices.tooMany;
  if (config.value === null) return words.notices.loadingMap;
  if (panel.value !== "none" || !canSee.value) return null;
  if (loading.value) return inView.value.length === 0 ? words.notices.loading : null;
  const count = haveGrade.value;
  if (inView.value.length > 0)
    // With the filter of the grade on, all that are shown have it.
    return count === null || grade.value === null || filters.value.grades.includes(grade.value)
      ? null
      : words.haveGrade(count.have, count.of, grade.value);
  return filtersOn(filters.value) > 0 && anyInView.value
    ? words.nothingMatches
    : words.nothingInView;
}

/** The age of the shown stations; null when there are none. */
function heldAgo(): string | null {
  if (shownFrom.value === null) return null;
  // Checked again as time passes.
  void now.value;
  return words.ago(Math.max(0, Math.floor((Date.now() - shownFrom.value) / minuteMs)));
}

const Countdown = ({
  trouble: { untilMs },
}: {
  trouble: Extract<Trouble, { kind: "limited" }>;
}) => {
  const left = useSignal(secondsTo(untilMs));
  useEffect(() => {
    const timer = setInterval(() => (left.value = secondsTo(untilMs)), 1000);
    return () => clearInterval(timer);
  }, [untilMs]);
  return (
    <p class="notice trouble" aria-live="off">
      {words.notices.limited(left.value)}
    </p>
  );
};

const secondsTo = (ms: number): number => Math.max(0, Math.ceil((ms - Date.now()) / 1000));
