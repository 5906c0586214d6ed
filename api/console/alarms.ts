import { actCall, actsCall, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { acknowledgeAlarm, alarmColumns, type AlarmRow, listAlarms } from "#src/alarms/alarms.ts";
import { channelsOf } from "#src/alarms/channels.ts";
import { readChannels } from "#src/alarms/claims.ts";
import { handledAlarms, partnerOf } from "#src/alarms/handled.ts";
import { kindNamed } from "#src/contract/alarm-kinds.ts";
import type { ConsoleAlarm, ConsoleAlarms } from "#src/contract/console.ts";
import { inMs, presented } from "#src/operators/presented.ts";
import { allowRetention } from "#src/operators/retention-asks.ts";

const shown = 200;

/** Open alarms, how they are told, and the figures that lead to them (decisions 16.16 to 16.21). */
export const alarmCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/alarms", { role: "viewer" }, async (ctx) => {
    const { db, config, clock, alarms } = services;
    const found = await listAlarms(db, "open", shown, `${alarmColumns}, said`);
    const known = channelsOf(config, clock).map(({ name }) => name);
    const channels = (await readChannels(db)).filter(({ channel }) => known.includes(channel));
    const figures = alarms.figures();
    const { handled, partners } = await handledAlarms(db, found.alarms);
    ctx.body = {
      alarms: found.alarms.map((row) => ({
        ...alarmOf(row),
        partner: partners.get(partnerOf(row) ?? 0) ?? null,
        handled: handled.has(row.id),
      })),
      total: found.total,
      channels: channels.map((channel) => presented(channel, inMs)),
      figures: figures && {
        held: figures.held,
        harmful: figures.harmful,
        busiest_source_share: figures.busiestSourceShare,
      },
    } satisfies ConsoleAlarms;
  }),
  actsCall(services, "/alarms/acknowledge", acknowledgeAlarm, {
    id: acknowledgeAlarm.id,
    done: "acknowledged",
  }),
  actCall(services, "POST", "/retention/allow", allowRetention, { answer: (allowed) => allowed }),
];

function alarmOf(row: AlarmRow): Omit<ConsoleAlarm, "partner" | "handled"> {
  const { title, meaning, page } = kindNamed(row.kind);
  const {
    id,
    kind,
    subject: text,
    said,
    city,
    count,
    details,
    raised_at: raised,
    last_at: last,
  } = row;
  return {
    ...{ id, kind, title, meaning, page, subject: said ?? text, city, count, details },
    ...{ raised: inMs(raised), last: inMs(last) },
  };
}
