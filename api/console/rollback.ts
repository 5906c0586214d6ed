import { Type, type Static } from "typebox";
import { consoleCall, type ConsoleCall } from "#api/console/call.ts";
import { badField, idText, moment } from "#api/console/fields.ts";
import type { Services } from "#api/http/services.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { formatTime } from "#src/domain/time.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { previewRollback } from "#src/marks/rollback-preview.ts";
import { runRollback } from "#src/marks/rollback.ts";
import type { Selection } from "#src/marks/rollback-selection.ts";

const shownStations = 50;
const wakeStations = 200;
const row = Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }));

const selected = Type.Object(
  {
    key: row,
    partner: row,
    reporter: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    station: Type.Optional(idText(64)),
    status: Type.Optional(Type.Union(statuses.map((status) => Type.Literal(status)))),
    since: Type.Optional(moment),
    until: Type.Optional(moment),
  },
  { additionalProperties: false },
);

/** Withdrawing a campaign's marks as if they had never been made (decisions.md 4): first shown, then done. */
export const rollbackCalls = ({ db, config, producer }: Services): ConsoleCall[] => [
  consoleCall({
    method: "POST",
    path: "/rollback/preview",
    role: "viewer",
    body: selected,
    async handle({ body }) {
      const selection = selectionFrom(body);
      if (isRefusal(selection)) return selection;
      return { body: await previewRollback(db, selection, config, shownStations) };
    },
  }),
  consoleCall({
    method: "POST",
    path: "/rollback",
    role: "operator",
    body: selected,
    async handle({ viewer, body }) {
      const selection = selectionFrom(body);
      if (isRefusal(selection)) return selection;
      const by = { actor: viewer.account.name, details: logged(body) };
      const done = await runRollback(db, selection, by, (stationIds) => {
        for (let from = 0; from < stationIds.length; from += wakeStations)
          producer.wakeMarks(stationIds.slice(from, from + wakeStations));
      });
      return { body: done };
    },
  }),
];

type Selected = Static<typeof selected>;

function selectionFrom({
  key,
  partner,
  reporter,
  station,
  status,
  since,
  until,
}: Selected): Selection | Refusal {
  if ([key, partner, reporter, station, since].every((one) => one === undefined))
    return badField("since", "Name at least one of key, partner, reporter, station and since");
  const given = {
    keyId: key,
    partnerId: partner,
    reporterId: reporter,
    stationId: station,
    status,
    since,
    until,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The selection as people read it, for the operator's log. */
function logged({ since, until, ...rest }: Selected): Record<string, unknown> {
  const shown = (at: number | undefined) => (at === undefined ? undefined : formatTime(at));
  return { ...rest, since: shown(since), until: shown(until) };
}
