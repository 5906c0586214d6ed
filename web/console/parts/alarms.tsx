import { Button } from "#web/kit/button.tsx";
import { type AlarmKind, alarmKinds } from "#src/contract/alarm-kinds.ts";
import type { ConsoleAlarm, ConsoleAlarms } from "#src/contract/console.ts";
import type { HeldReason } from "#src/contract/dashboard.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import type { OffReason } from "#src/domain/vocabulary.ts";
import { offReasons } from "#web/console/parts/webhooks.tsx";
import { say, saySentence } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";
import { number, share } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table, counted } from "#web/kit/table.tsx";
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
                  by: (alarm) => wordsOfKind(alarm).title,
                  cell: (alarm) => (
                    <>
                      <a href={`#${alarm.page}`}>{wordsOfKind(alarm).title}</a>{" "}
                      {alarm.handled && (
                        <span class="tag good">{say("handled: nothing is left to decide")}</span>
                      )}
                      <div class="soft">{wordsOfKind(alarm).meaning}</div>
                    </>
                  ),
                },
                {
                  name: say("About"),
                  by: ({ subject }) => saySentence(subject),
                  cell: (alarm) => (
                    <>
                      {alarm.partner !== null && `${alarm.partner}, `}
                      <Subject of={alarm.subject} />
                      {alarm.city !== "" && `, ${alarm.city}`}
                      <div class="soft">{figuresOf(alarm)}</div>
                    </>
                  ),
                },
                counted(say("Times"), "count"),
                { name: say("Since"), of: "raised", cell: (raised) => <Ago at={raised} /> },
                {
                  name: say("Action"),
                  cell: (alarm) =>
                    mayChange() && (
                      <Button
                        of={say("alarm {id}", { id: alarm.id })}
                        disabled={doing.busy}
                        onClick={() => acknowledge([alarm])}
                      >
                        {say("Acknowledge")}
                      </Button>
                    ),
                },
              ]}
            />
            {mayChange() && alarms.length > 1 && (
              <div class="buttons">
                <Button disabled={doing.busy} onClick={() => acknowledge(alarms)}>
                  {total > alarms.length
                    ? say("Acknowledge these {n} of {total}", {
                        n: String(alarms.length),
                        total: String(total),
                      })
                    : say("Acknowledge all")}
                </Button>
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

/** A kind of a later version stays in the server's English. */
function wordsOfKind({ kind, title, meaning }: ConsoleAlarm) {
  if (!Object.hasOwn(alarmKinds, kind)) return { title, meaning };
  const known = alarmKinds[kind as AlarmKind];
  return { title: say(known.title), meaning: say(known.meaning) };
}

type Channel = "email" | "webhook";
const listed = new Intl.ListFormat(locale);

/** The subject of an alarm, with a link to its page. */
function Subject({ of }: { of: ConsoleAlarm["subject"] }) {
  const text = saySentence(of);
  if (typeof of === "string") return <span lang="en">{text}</span>;
  if (of.code === "partner") return <a href={`#/partners/${of.partner}`}>{text}</a>;
  if (of.code === "station") return <a href={`#/stations/${of.station}`}>{text}</a>;
  if (of.code === "feed") return <a href="#/feeds">{text}</a>;
  return <>{text}</>;
}

/** The further figures of an alarm, each kind's own. */
function figuresOf({ details: { failures, stations, webhook, reason, ...others } }: ConsoleAlarm) {
  const words = Object.entries(others).map(
    ([name, value]) => `${name.replaceAll("_", " ")} ${value}`,
  );
  if (failures !== undefined) words.unshift(say("failed sign-ins: {n}", { n: failures }));
  if (stations !== undefined) words.unshift(say("stations: {n}", { n: stations }));
  if (webhook !== undefined) {
    const why = say(offReasons[reason as OffReason]);
    words.unshift(say("webhook {id}, {why}", { id: webhook, why }));
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
