import { randomUUID } from "node:crypto";
import { Command } from "commander";
import { byOf } from "#cli/act-verb.ts";
import { id, listLimit, verb } from "#cli/command.ts";
import { instanceConfig, withDb } from "#cli/instance.ts";
import { card, ExitError, type Output, readable, table } from "#cli/output.ts";
import { acknowledgeAlarm, listAlarms } from "#src/alarms/alarms.ts";
import { channelsOf, faultOf } from "#src/alarms/channels.ts";
import { noteReached, readChannels } from "#src/alarms/claims.ts";
import { testMessage } from "#src/alarms/message.ts";
import { kindNamed } from "#src/contract/alarm-kinds.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { createClock } from "#src/infrastructure/clock.ts";

/** `operator alarm list|acknowledge|test` (decisions 16.16 to 16.19). */
export function alarmCommand(output: () => Output): Command {
  const command = new Command("alarm").description(
    "what the service wants an operator to look at, and how it tells them",
  );

  verb(command, "list", "open alarms, newest first", "alarm list", "alarm list --all --json")
    .option("--all", "also those that are acknowledged", false)
    .option("--limit <n>", "highest number of alarms to show", listLimit, 1000)
    .action(async ({ all, limit }: { all: boolean; limit: number }) => {
      const { result, note } = output();
      const none = all ? "no alarms" : "no open alarms";
      const { alarms, total, channels } = await withDb(output(), async (db) => ({
        ...(await listAlarms(db, all ? "all" : "open", limit)),
        channels: await readChannels(db),
      }));
      result(
        alarms.map((alarm) => ({ ...readable(alarm), ...remedyOf(alarm.kind) })),
        (list) => [table(alarms.map(readable), none), ...list.flatMap(remedyText)].join("\n"),
      );
      if (total > alarms.length) note(`${total - alarms.length} more: use a higher --limit`);
      for (const { channel, failures, fault } of channels)
        if (failures > 0) note(`${channel} has failed ${failures} times: ${fault}`);
    });

  verb(
    command,
    "acknowledge",
    "close an alarm, or all open alarms: an operator has looked at it",
    "alarm acknowledge 12",
    "alarm acknowledge --all",
  )
    .argument("[id]", "the alarm's id", id)
    .option("--all", "all open alarms", false)
    .action(async (one: number | undefined, { all }: { all: boolean }) => {
      if ((one === undefined) === !all) throw new ExitError("name one alarm, or use --all");
      const out = output();
      const done = await withDb(out, async (db, config) => {
        const by = await byOf(out, db, config);
        if (one !== undefined) {
          const alarm = await acknowledgeAlarm(by, {}, one);
          return isRefusal(alarm) ? alarm : { acknowledged: [one] };
        }
        const acknowledged: number[] = [];
        const { alarms } = await listAlarms(db, "open", 100_000);
        for (const alarm of alarms.toReversed())
          if (!isRefusal(await acknowledgeAlarm(by, {}, alarm.id))) acknowledged.push(alarm.id);
        return { acknowledged };
      });
      out.result(done, card);
    });

  verb(
    command,
    "test",
    "send a test message through every channel of the settings; shows what each receiver answered, and ends the fault of a channel that works",
    "alarm test",
  ).action(async () => {
    const out = output();
    const config = instanceConfig(out.env);
    const channels = channelsOf(config, createClock(config));
    if (channels.length === 0)
      throw new ExitError(
        "alarms are not sent: set ALARM_EMAIL_TO and ALARM_SMTP_URL, or ALARM_WEBHOOK_URL",
        1,
      );
    const message = testMessage(`test-${randomUUID()}`, config.baseUrl);
    const answers = await Promise.all(
      channels.map(async ({ name, send }) => {
        try {
          const { answer, fault } = await send(message);
          if (fault === null) return { channel: name, answer, ok: true };
          return { channel: name, answer: `${answer}, ${fault}`, ok: false };
        } catch (error) {
          return { channel: name, answer: `failed (${faultOf(error)})`, ok: false };
        }
      }),
    );
    const reached = answers.filter(({ ok }) => ok).map(({ channel }) => channel);
    // A test also works while the database is away.
    if (config.databaseUrl !== "")
      await withDb(out, (db) => noteReached(db, reached)).catch((error: Error) =>
        out.note(`failures of before stay noted: ${error.message}`),
      );
    const words = answers.map(({ channel, answer }) => `${channel}: ${answer}`).join("; ");
    if (!answers.every(({ ok }) => ok)) throw new ExitError(words, 1);
    out.result(
      answers.map(({ channel, answer }) => ({ channel, answer })),
      (list) => table(list, ""),
    );
  });

  return command;
}

/** What a kind of alarm means, and where an operator looks: a command and a page of the console. */
function remedyOf(kind: string) {
  const { meaning, command, page } = kindNamed(kind);
  return { meaning, look_at: `operator ${command}`, console: `/console/#${page}` };
}

/** The remedy below the table, once for each kind. */
function remedyText(
  { kind, meaning, look_at: command, console: page }: { kind: string } & Remedy,
  at: number,
  list: readonly { kind: string }[],
): string[] {
  if (list.findIndex((alarm) => alarm.kind === kind) !== at) return [];
  return ["", `${kind}: ${meaning}`, `  Look at \`${command}\` or ${page}`];
}

type Remedy = ReturnType<typeof remedyOf>;
