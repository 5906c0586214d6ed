import { minuteMs } from "#src/domain/units.ts";
import { cooldowns } from "#web/widget/cooldown.ts";
import { now } from "#web/widget/state.ts";
import { locale, words } from "#web/widget/words.ts";

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });

/** Tells a driver who has marked this station the time from which the next mark counts, before one is tried. */
export const CooldownLine = ({ stationId }: { stationId: string }) => {
  // Reading the signal makes the line go when the time has come.
  void now.value;
  const cooldown = cooldowns.of(stationId);
  if (cooldown === null) return null;
  // Rounded up to a whole minute: the mark is taken at the minute that is shown.
  const until = Math.ceil(cooldown.untilMs / minuteMs) * minuteMs;
  return (
    <p class="hint cooldown">
      {words.cooldownUntil(clock.format(cooldown.atMs), clock.format(until))}
    </p>
  );
};
