import { minuteMs } from "#src/domain/units.ts";
import { say } from "#web/kit/say.ts";
import { locale } from "#web/kit/words.ts";

/** A time in the viewer's zone; on hover, and for machines, in UTC. `at` in ms. */
export function Moment({
  at,
  none = say("never"),
  seconds = false,
}: {
  at: number | null;
  none?: string;
  seconds?: boolean;
}) {
  if (at === null) return <span class="soft">{none}</span>;
  const date = new Date(at);
  const sameYear = date.getFullYear() === new Date().getFullYear();
  return (
    <time dateTime={date.toISOString()} title={utc(at)}>
      {(seconds ? exact : sameYear ? short : long).format(date)}
    </time>
  );
}

/** The same with how long ago it was: `3 min ago`. `now` in ms. */
export function Ago({ at, now = Date.now() }: { at: number; now?: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={`${long.format(at)} · ${utc(at)}`}>
      {span(now - at)}
    </time>
  );
}

/** `2026-11-21 14:05:09 UTC`. */
export const utc = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;

const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const short = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", ...clock });
const exact = new Intl.DateTimeFormat(locale, {
  ...{ day: "numeric", month: "short", second: "2-digit" },
  ...clock,
});
const long = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  year: "numeric",
  ...clock,
});

function span(ms: number): string {
  const minutes = Math.round(ms / minuteMs);
  if (minutes < 1) return say("just now");
  if (minutes < 60) return say("{n} min ago", { n: minutes });
  const hours = Math.round(minutes / 60);
  return hours < 48
    ? say("{n} h ago", { n: hours })
    : say("{n} {n|day|days} ago", { n: Math.round(hours / 24) });
}
