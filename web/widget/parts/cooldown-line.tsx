import { minuteMs } from "#src/domain/units.ts";
import { cooldownOf } from "#web/widget/cooldown.ts";
import { now } from "#web/widget/state.ts";
import { locale, words } from "#web/widget/words.ts";

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });

/** Tells a driver who has marked this station from when the next mark counts, before one is tried. */
export const CooldownLine = ({ stationId }: { stationId: string }) => {
  // Read for what it sets off: the line goes when the time has come.
  void now.value;
  const cooldown = cooldownOf(stationId);
  if (cooldown === null) return null;
  // To the next whole minute: at the minute that is told, the mark is taken.
  const until = Math.ceil(cooldown.untilMs / minuteMs) * minuteMs;
  return (
    <p class="hint cooldown">
      {words.cooldownUntil(clock.format(cooldown.atMs), clock.format(until))}
    </p>
  );
};
