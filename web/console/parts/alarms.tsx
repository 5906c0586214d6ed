import type { ConsoleAlarm, ConsoleAlarms } from "#src/contract/console.ts";
import type { HeldReason } from "#src/contract/dashboard.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import type { OffReason } from "#src/domain/vocabulary.ts";
import { hear, hearText } from "#web/console/heard.ts";
import { offReasons } from "#web/console/parts/webhooks.tsx";
import { type Said, say, type Text } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";
import { number, share } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Ago } from "#web/kit/time.tsx";
import { locale } from "#web/kit/words.ts";

const everyMs = 15_000;

/** Open alarms, whether they reach the operator elsewhere too, and the figures that lead to alarms. */
export function Alarms() {
  const loading = useLoaded<ConsoleAlarms>("/alarms", everyMs);
  const doing = useDoing();
  const acknowledge = async (alarms: readonly ConsoleAlarm[]): Promise<void> => {
    const words =
      alarms.length === 1
        ? say("Alarm {id} acknowledged", { id: String(alarms[0]!.id) })
        : say("All alarms acknowledged");
    const ids = alarms.map(({ id }) => id);
    await doing.run(words, "POST", "/alarms/acknowledge", { ids });
    await loading.load();
  };
  return (
    <>
      <h2>{say("Alarms")}</h2>
      <Fault words={doing.fault} />
      <Loaded of={loading}>
        {({ alarms, total, channels, figures }) => (
          <>
            <Table
              caption={say("Open alarms")}
              rows={alarms}
              id={({ id }) => id}
              empty={say("No open alarms.")}
              columns={[
                {
                  name: say("Alarm"),
                  by: ({ title }) => textOf(title),
                  cell: ({ title, meaning, page }) => (
                    <>
                      <a href={`#${page}`}>{textOf(title)}</a>
                      <div class="soft">{textOf(meaning)}</div>
                    </>
                  ),
                },
                {
                  name: say("About"),
                  by: ({ subject }) => hearText(subjects, subject),
                  cell: (alarm) => (
                    <>
                      {hear(subjects, alarm.subject, linked) ?? alarm.subject}
                      {alarm.city !== "" && `, ${alarm.city}`}
                      <div class="soft">{figuresOf(alarm)}</div>
                    </>
                  ),
                },
                {
                  name: say("Times"),
                  by: (alarm) => alarm.count,
                  cell: (a) => number(a.count),
                  numeric: true,
                },
                {
                  name: say("Since"),
                  by: (alarm) => alarm.raised,
                  cell: (alarm) => <Ago at={alarm.raised} />,
                },
                {
                  name: say("Action"),
                  cell: (alarm) =>
                    mayChange() && (
                      <button
                        type="button"
                        disabled={doing.busy}
                        onClick={() => void acknowledge([alarm])}
                      >
                        {say("Acknowledge")}
                        <span class="unseen"> {say("alarm {id}", { id: String(alarm.id) })}</span>
                      </button>
                    ),
                },
              ]}
            />
            {mayChange() && alarms.length > 1 && (
              <div class="buttons">
                <button
                  type="button"
                  disabled={doing.busy}
                  onClick={() => void acknowledge(alarms)}
                >
                  {total > alarms.length
                    ? say("Acknowledge these {n} of {total}", {
                        n: String(alarms.length),
                        total: String(total),
                      })
                    : say("Acknowledge all")}
                </button>
              </div>
            )}
            <p class="soft">
              {channels.length === 0
                ? say("Alarms are shown here only: neither e-mail nor a webhook is set up.")
                : say("Also sent by {channels}.", {
                    channels: listed.format(channels.map(({ channel }) => say(channel as Channel))),
                  })}{" "}
              {figures !== null && wordsOf(figures)}
            </p>
            {channels
              .filter(({ failures }) => failures > 0)
              .map(({ channel, failures, fault }) => (
                <p key={channel} class="fault">
                  {say("The {channel} has failed {n} times: {fault}", {
                    channel: say(channel as Channel),
                    n: String(failures),
                    fault: fault ?? "",
                  })}
                </p>
              ))}
          </>
        )}
      </Loaded>
    </>
  );
}

// The server sends them in English; a kind of a later version stays in English.
const textOf = (text: string): string => say(text as Text);
type Channel = "email" | "webhook";
const listed = new Intl.ListFormat(locale);

/** The subjects of alarms. */
const subjects = [
  "partner {partner}",
  "network {network}",
  "station {station}",
  "duty {duty}",
  "retention {retention}",
  "another server",
  "another timeline",
  "an earlier state",
  "account {account}",
  "unknown accounts",
  "table {table}",
  "feed {feed}",
  "stations",
  "processes",
  "dump",
  "database",
] as const satisfies readonly Said[];

const linked = (name: string, value: string) =>
  name === "feed" ? (
    <a href="#/feeds">{value}</a>
  ) : name === "partner" || name === "station" ? (
    <a href={`#/${name}s/${value}`}>{value}</a>
  ) : (
    value
  );

/** The further figures of an alarm, each kind's own. */
function figuresOf({ details: { failures, stations, webhook, reason, ...others } }: ConsoleAlarm) {
  const words = Object.entries(others).map(
    ([name, value]) => `${name.replaceAll("_", " ")} ${value}`,
  );
  if (failures !== undefined) words.unshift(say("failed sign-ins: {n}", { n: failures }));
  if (stations !== undefined) words.unshift(say("stations: {n}", { n: stations }));
  if (webhook !== undefined) {
    const why = say(offReasons[reason as OffReason]);
    words.unshift(say("webhook {id}, {why}", { id: String(webhook), why }));
  }
  return words.join(", ");
}

const heldWords: Record<HeldReason, string> = {
  "mass-no": say("many “no” of newcomers"),
  source: say("limit of a source"),
  city: say("limit of a city"),
  block: say("a block"),
};

function wordsOf({ held, harmful, busiest_source_share }: NonNullable<ConsoleAlarms["figures"]>) {
  const holding = Object.entries(held)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${heldWords[reason as HeldReason]} ${number(count)}`);
  const changes = harmful.reduce((all, { count }) => all + count, 0);
  return say(
    "Marks held: {held}. Harmful changes in all: {changes}. Busiest source: {share} of the last hour's marks.",
    {
      held: holding.join(", ") || say("none"),
      changes,
      share: share(busiest_source_share, 1),
    },
  );
}
