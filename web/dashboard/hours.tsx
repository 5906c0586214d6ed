import type { ShownHour } from "#src/contract/dashboard.ts";
import { milliseconds } from "#web/dashboard/cells.tsx";
import { Section } from "#web/dashboard/section.tsx";
import { audience, hours } from "#web/dashboard/state.ts";
import { Bars } from "#web/kit/bars.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { counted, Table } from "#web/kit/table.tsx";
import { say } from "#web/dashboard/words.ts";
import { locale } from "#web/kit/words.ts";

/** Requests by hour, and how long their answers took (decisions 12.12). */
export const Hours = () => (
  <Section id="hours" title={say("Hours")}>
    <Loaded of={hours}>{(value) => <ByHour hours={value[audience.value]} />}</Loaded>
  </Section>
);

function ByHour({ hours }: { hours: readonly ShownHour[] }) {
  const busy = hours.filter(({ requests, refused }) => requests + refused > 0);
  if (busy.length === 0)
    return <p class="empty">{say("No requests in the last {n} hours.", { n: hours.length })}</p>;
  const bars = hours
    .map(({ at, requests, errors, refused }) => ({
      name: `${weekday.format(at)} ${clock.format(at)}`,
      parts: [requests - errors, errors, refused],
    }))
    .reverse();
  return (
    <>
      <p class="soft small">
        {say(
          "The last {n} hours (UTC). Durations are those of our server, from the arrival of a request to the end of its answer, within a tenth.",
          { n: hours.length },
        )}
      </p>
      <Bars
        label={say("Requests per hour")}
        unit={say("requests")}
        names={[say("Without error"), say("Errors"), say("Refused, not counted")]}
        bars={bars}
        own={["var(--refused)"]}
      />
      <Table
        caption={say("Requests and durations per hour")}
        rows={busy}
        id={({ at }) => at}
        empty=""
        perPage={8}
        columns={[
          {
            name: say("Hour (UTC)"),
            of: "at",
            cell: (at) => <span class="whole">{hourWords(at)}</span>,
          },
          counted(say("Requests"), "requests"),
          counted(say("Errors"), "errors"),
          counted(say("Not counted"), "refused"),
          {
            name: say("Median, ms"),
            of: "median_ms",
            cell: (ms) => milliseconds(ms ?? 0),
            numeric: true,
          },
          {
            name: say("p95, ms"),
            of: "p95_ms",
            cell: (ms) => milliseconds(ms ?? 0),
            numeric: true,
          },
        ]}
      />
    </>
  );
}

const utc = { timeZone: "UTC" };
const weekday = new Intl.DateTimeFormat(locale, { weekday: "short", ...utc });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: "short", ...utc });
const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", ...utc });
const hourWords = (at: number): string => `${day.format(at)}, ${clock.format(at)}`;
