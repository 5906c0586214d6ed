import type { ComponentChildren } from "preact";
import type { Overview } from "#src/contract/dashboard.ts";
import { Section } from "#web/dashboard/section.tsx";
import { overview } from "#web/dashboard/state.ts";
import { Meter } from "#web/kit/meter.tsx";
import { number, share } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { utc } from "#web/kit/time.tsx";

/** What is left of the limits at this moment, and how the requests of the day went. */
export const Today = () => (
  <Section id="today" title="Today">
    <Loaded of={overview}>{(value) => <Figures overview={value} />}</Loaded>
  </Section>
);

function Figures({ overview: { minute, today, days, now } }: { overview: Overview }) {
  const { errors, not_modified: unchanged } = days[0]!;
  return (
    <>
      <dl class="tiles">
        <Tile
          name="Left this minute"
          value={number(minute.remaining)}
          more={`of ${number(minute.limit)} requests`}
        >
          <Meter
            label="Requests this minute"
            used={minute.limit - minute.remaining}
            limit={minute.limit}
          />
        </Tile>
        <Tile
          name="Left today"
          value={number(today.remaining)}
          more={`of ${number(today.limit)}, until 00:00 UTC`}
        >
          <Meter label="Requests today" used={today.limit - today.remaining} limit={today.limit} />
        </Tile>
        <Tile
          name="Unchanged (304)"
          value={share(unchanged, today.requests)}
          more={`${number(unchanged)} of ${number(today.requests)} requests`}
        />
        <Tile
          name="Errors"
          value={share(errors, today.requests)}
          more={`${number(errors)} of ${number(today.requests)} requests`}
        />
      </dl>
      <p class="soft small">
        Requests with secret keys on {today.date} (UTC). Last update at{" "}
        <time dateTime={new Date(now).toISOString()} title={utc(now)}>
          {clock.format(now)}
        </time>
        , updated every 15 s.
      </p>
    </>
  );
}

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

const Tile = ({
  name,
  value,
  more,
  children,
}: {
  name: string;
  value: string;
  more: string;
  children?: ComponentChildren;
}) => (
  <div class="tile">
    <dt>{name}</dt>
    <dd>
      <span class="figure">{value}</span>
      <span class="soft small">{more}</span>
      {children}
    </dd>
  </div>
);
