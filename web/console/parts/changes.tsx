import type { ConsoleRollbackChange } from "#src/contract/console-review.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { ChangesMap } from "#web/console/parts/changes-map.tsx";
import { Status } from "#web/console/parts/status.tsx";
import { say } from "#web/console/words.ts";
import { Table } from "#web/kit/table.tsx";

/** The changes of a decision: on a map, and by the station's name, before and after; changed stations come first. */
export function Changes({ changes }: { changes: readonly ConsoleRollbackChange[] }) {
  return (
    <>
      <ChangesMap changes={changes} />
      <ChangesTable changes={changes} />
    </>
  );
}

function ChangesTable({ changes }: { changes: readonly ConsoleRollbackChange[] }) {
  return (
    <Table
      caption={say("Changes of stations")}
      rows={changes}
      id={({ station_id: id }) => id}
      empty={say("No station is touched.")}
      columns={[
        {
          name: say("Station"),
          by: ({ station, station_id: id }) => station || id,
          cell: ({ station, station_id: id }) => (
            <>
              <a href={`#/stations/${id}`}>{station || id}</a>
              {station !== "" && <span class="soft"> {id}</span>}
            </>
          ),
        },
        { name: say("Marks"), of: "marks", numeric: true },
        {
          name: say("Status"),
          by: ({ before, after }) => (before.status === after.status ? 1 : 0),
          cell: statusChange,
        },
        {
          name: say("Confirmations"),
          cell: ({ before, after }) => arrow(before.confirmations, after.confirmations),
          numeric: true,
        },
        {
          name: say("Pending"),
          cell: ({ before, after }) =>
            arrow(pendingWord(before.pending_status), pendingWord(after.pending_status)),
        },
        { name: say("Details"), cell: detailChange },
      ]}
    />
  );
}

const statusChange = ({ before, after }: ConsoleRollbackChange) => (
  <>
    <Status status={before.status} />
    {before.status !== after.status && (
      <>
        {" → "}
        <Status status={after.status} />
      </>
    )}
  </>
);

const pendingWord = (status: FuelBlock["pending_status"]): string =>
  status === "" ? "–" : say(status);

const detailNames = {
  fuels_now: say("fuels"),
  fuels_no: say("no fuels"),
  prices: say("prices"),
  queue: say("queue"),
  limit_l: say("limit"),
  no_cash: say("no cash"),
  fuel_cards_only: say("cards only"),
} as const;

/** The details that change, before and after. */
const detailChange = ({ before, after }: ConsoleRollbackChange): string =>
  Object.entries(detailNames)
    .flatMap(([field, name]) => {
      const [was, is] = [before, after].map((fuel) => fuel[field as keyof typeof detailNames]);
      return was === is ? [] : `${name}: ${shown(was)} → ${shown(is)}`;
    })
    .join("; ") || "–";

const shown = (value: string | number | boolean | null | undefined): string =>
  value === "" || value === null || value === undefined || value === false
    ? "–"
    : value === true
      ? say("true")
      : String(value);

const arrow = (before: string | number, after: string | number): string =>
  before === after ? String(before) : `${before} → ${after}`;
