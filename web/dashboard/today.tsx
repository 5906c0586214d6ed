import type { ComponentChildren } from "preact";
import type { Overview } from "#src/contract/dashboard.ts";
import { Section } from "#web/dashboard/section.tsx";
import { overview } from "#web/dashboard/state.ts";
import { Meter } from "#web/kit/meter.tsx";
import { number, share } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { utc } from "#web/kit/time.tsx";
import { say, sayWith } from "#web/dashboard/words.ts";
import { locale } from "#web/kit/words.ts";

/** The rest of the limits at this moment, and the results of the day's requests. */
export const Today = () => (
  <Section id="today" title={say("Today")}>
    <Loaded of={overview}>{(value) => <Figures overview={value} />}</Loaded>
  </Section>
);

function Figures({ overview: { minute, today, days, now } }: { overview: Overview }) {
  const { errors, not_modified: unchanged, refused, limited } = days[0]!;
  const asked = today.requests + refused;
  return (
    <>
      <dl class="tiles">
        <Tile
          name={say("Left this minute")}
          value={number(minute.remaining)}
          more={say("of {limit} requests", { limit: minute.limit })}
        >
          <Meter
            label={say("Requests this minute")}
            used={minute.limit - minute.remaining}
            limit={minute.limit}
          />
        </Tile>
        <Tile
          name={say("Left today")}
          value={number(today.remaining)}
          more={say("of {limit}, until 00:00 UTC", { limit: today.limit })}
        >
          <Meter
            label={say("Requests today")}
            used={today.limit - today.remaining}
            limit={today.limit}
          />
        </Tile>
        <Tile
          name={say("Unchanged (304)")}
          value={share(unchanged, today.requests)}
          more={say("{n} of {all} requests", { n: unchanged, all: today.requests })}
        />
        <Tile
          name={say("Errors")}
          value={share(errors, today.requests)}
          more={say("{n} of {all} requests", { n: errors, all: today.requests })}
        />
        {refused > 0 && (
          <Tile
            name={say("Refused, not counted")}
            value={share(refused, asked)}
            more={say("{n} of {all} calls", { n: refused, all: asked })}
            look="refused"
          >
            {limited > 0 ? (
              <a href="#limits">{say("by your limits: ask for more")}</a>
            ) : (
              <a href="#errors">{say("by the key: see the errors")}</a>
            )}
          </Tile>
        )}
      </dl>
      <p class="soft small">
        {sayWith(
          "Requests with secret keys on {date} (UTC). Last update at {time}, updated every 15 s.",
          {
            date: today.date,
            time: (
              <time dateTime={new Date(now).toISOString()} title={utc(now)}>
                {clock.format(now)}
              </time>
            ),
          },
        )}
      </p>
    </>
  );
}

const clock = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });

const Tile = ({
  name,
  value,
  more,
  look = "",
  children,
}: {
  name: string;
  value: string;
  more: string;
  look?: "refused" | "";
  children?: ComponentChildren;
}) => (
  <div class={`tile ${look}`}>
    <dt>{name}</dt>
    <dd>
      <span class="figure">{value}</span>
      <span class="soft small">{more}</span>
      {children}
    </dd>
  </div>
);
