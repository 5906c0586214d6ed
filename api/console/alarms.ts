import { Type } from "typebox";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { Services } from "#api/http/services.ts";
import { acknowledgeAlarm, type AlarmRow, listAlarms } from "#src/alarms/alarms.ts";
import { channelsOf } from "#src/alarms/channels.ts";
import { readChannels } from "#src/alarms/claims.ts";
import { kindNamed } from "#src/alarms/kinds.ts";
import type { ConsoleAlarm, ConsoleAlarms } from "#src/contract/console.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { line } from "#src/operators/inputs.ts";
import { inMs, presented } from "#src/operators/presented.ts";
import { allowRetention } from "#src/operators/retention-asks.ts";

const shown = 200;
const together = 500;

const ids = Type.Object({
  ids: Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), {
    minItems: 1,
    maxItems: together,
  }),
});

/** What may be deleted that waits for an operator (decisions 21.10). */
const allowed = Type.Object({ step: line(1, 80) });

/** Open alarms, how they are told, and the figures that lead to them (decisions 16.16 to 16.21). */
export const alarmCalls = ({ db, config, clock, alarms }: Services): ConsoleCall[] => [
  consoleCall("GET", "/alarms", { role: "viewer" }, async (ctx) => {
    const found = await listAlarms(db, "open", shown);
    const known = channelsOf(config, clock).map(({ name }) => name);
    const channels = (await readChannels(db)).filter(({ channel }) => known.includes(channel));
    const figures = alarms.figures();
    ctx.body = {
      alarms: found.alarms.map(alarmOf),
      total: found.total,
      channels: channels.map((channel) => presented(channel, inMs)),
      figures: figures && {
        held: figures.held,
        harmful: figures.harmful,
        busiest_source_share: figures.busiestSourceShare,
      },
    } satisfies ConsoleAlarms;
  }),
  consoleCall("POST", "/alarms/acknowledge", { role: "operator", body: ids }, async (ctx) => {
    // `missed`: no such alarm, or another operator was faster.
    const answer = { acknowledged: [] as number[], missed: [] as number[] };
    for (const id of [...new Set(ctx.state.body.ids)].sort((a, b) => a - b)) {
      const alarm = await acknowledgeAlarm(db, actorOf(ctx), id);
      answer[isRefusal(alarm) ? "missed" : "acknowledged"].push(id);
    }
    ctx.body = answer;
  }),
  consoleCall("POST", "/retention/allow", { role: "operator", body: allowed }, async (ctx) => {
    ctx.body = orThrow(await allowRetention(db, actorOf(ctx), ctx.state.body.step));
  }),
];

function alarmOf(row: AlarmRow): ConsoleAlarm {
  const { title, meaning, page } = kindNamed(row.kind);
  const { id, kind, subject, city, count, details, raised_at: raised, last_at: last } = row;
  return {
    ...{ id, kind, title, meaning, page, subject, city, count, details },
    ...{ raised: inMs(raised), last: inMs(last) },
  };
}
