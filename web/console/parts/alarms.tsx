import type { ConsoleAlarm, ConsoleAlarms } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { Fault } from "#web/kit/fault.tsx";
import { number, share } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Ago } from "#web/kit/time.tsx";

const everyMs = 15_000;

/** Open alarms, whether they reach the operator elsewhere too, and the figures that lead to alarms. */
export function Alarms() {
  const loading = useLoaded<ConsoleAlarms>("/alarms", everyMs);
  const doing = useDoing();
  const acknowledge = async (alarms: readonly ConsoleAlarm[]): Promise<void> => {
    const words =
      alarms.length === 1 ? `Alarm ${alarms[0]!.id} acknowledged` : "All alarms acknowledged";
    const ids = alarms.map(({ id }) => id);
    await doing.run(words, "POST", "/alarms/acknowledge", { ids });
    await loading.load();
  };
  return (
    <>
      <h2>Alarms</h2>
      <Fault words={doing.fault} />
      <Loaded of={loading}>
        {({ alarms, total, channels, figures }) => (
          <>
            <Table
              caption="Open alarms"
              rows={alarms}
              id={({ id }) => id}
              empty="No open alarms."
              columns={[
                {
                  name: "Alarm",
                  by: ({ title }) => title,
                  cell: ({ title, meaning, page }) => (
                    <>
                      <a href={`#${page}`}>{title}</a>
                      <div class="soft">{meaning}</div>
                    </>
                  ),
                },
                {
                  name: "About",
                  by: (alarm) => alarm.subject,
                  cell: (alarm) => (
                    <>
                      {alarm.subject}
                      {alarm.city !== "" && `, ${alarm.city}`}
                      <div class="soft">{figuresOf(alarm)}</div>
                    </>
                  ),
                },
                {
                  name: "Times",
                  by: (alarm) => alarm.count,
                  cell: (a) => number(a.count),
                  numeric: true,
                },
                {
                  name: "Since",
                  by: (alarm) => alarm.raised,
                  cell: (alarm) => <Ago at={alarm.raised} />,
                },
                {
                  name: "Action",
                  cell: (alarm) =>
                    mayChange() && (
                      <button
                        type="button"
                        disabled={doing.busy}
                        onClick={() => void acknowledge([alarm])}
                      >
                        Acknowledge<span class="unseen"> alarm {alarm.id}</span>
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
                  Acknowledge {total > alarms.length ? `these ${alarms.length} of ${total}` : "all"}
                </button>
              </div>
            )}
            <p class="soft">
              {channels.length === 0
                ? "Alarms are shown here only: neither e-mail nor a webhook is set up."
                : `Also sent by ${channels.map(({ channel }) => channel).join(" and ")}.`}{" "}
              {figures !== null && wordsOf(figures)}
            </p>
            {channels
              .filter(({ failures }) => failures > 0)
              .map(({ channel, failures, fault }) => (
                <p key={channel} class="fault">
                  The {channel} has failed {failures} times: {fault}
                </p>
              ))}
          </>
        )}
      </Loaded>
    </>
  );
}

const figuresOf = ({ details }: ConsoleAlarm): string =>
  Object.entries(details)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`)
    .join(", ");

function wordsOf({ held, harmful, busiest_source_share }: NonNullable<ConsoleAlarms["figures"]>) {
  const holding = Object.entries(held)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${reason} ${number(count)}`);
  const changes = harmful.reduce((all, { count }) => all + count, 0);
  return `Marks held: ${holding.join(", ") || "none"}. Harmful changes in all: ${number(changes)}. Busiest source: ${share(busiest_source_share, 1)} of the last hour's marks.`;
}
