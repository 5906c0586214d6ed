import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { number } from "#web/kit/numbers.ts";
import { say } from "#web/kit/say.ts";
import { Moment } from "#web/kit/time.tsx";

export interface Column<Row> {
  name: string;
  cell: (row: Row) => ComponentChildren;
  /** The value to sort the column by; without it the column cannot be sorted. */
  by?: (row: Row) => string | number;
  /** Aligned right, in figures of one width. */
  numeric?: boolean;
}

/** A column of counts, sorted by them. */
export const counted = <Field extends string>(
  name: string,
  field: Field,
): Column<Record<Field, number>> => ({
  name,
  cell: ({ [field]: count }) => number(count),
  by: ({ [field]: count }) => count,
  numeric: true,
});

/** A column of times in ms, sorted by them. */
export const timed = <Field extends string>(
  name: string,
  field: Field,
): Column<Record<Field, number | null>> => ({
  name,
  cell: ({ [field]: at }) => <Moment at={at} />,
  by: ({ [field]: at }) => at ?? 0,
});

interface Props<Row> {
  /** The table's content in words, for screen readers. */
  caption: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  id: (row: Row) => string | number;
  /** Shown in place of an empty table. */
  empty: ComponentChildren;
  perPage?: number;
}

interface Sorting {
  column: number;
  down: boolean;
}

/**
 * A table that pages and sorts rows in the browser. A narrow window shows each row as a card: the roles are spelled out
 * because another `display` takes them away.
 */
export function Table<Row>({ caption, rows, columns, id, empty, perPage = 20 }: Props<Row>) {
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [wanted, setPage] = useState(0);
  if (rows.length === 0) return <div class="empty">{empty}</div>;
  const sorted = sort(rows, columns, sorting);
  const pages = Math.ceil(sorted.length / perPage);
  const page = Math.min(wanted, pages - 1);
  const shown = sorted.slice(page * perPage, (page + 1) * perPage);
  const turn = (column: number): void => {
    const down = sorting?.column === column ? !sorting.down : columns[column]?.numeric === true;
    setSorting({ column, down });
    setPage(0);
  };
  return (
    <div class="table">
      <table role="table">
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column, n) => (
              <Heading
                key={column.name}
                column={column}
                down={sorting?.column === n ? sorting.down : null}
                turn={() => turn(n)}
              />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((row) => (
            <tr role="row" key={id(row)}>
              {columns.map((column) => (
                <td
                  role="cell"
                  key={column.name}
                  data-name={column.name}
                  class={column.numeric === true ? "numeric" : ""}
                >
                  <div>{column.cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {pages > 1 && (
        <nav class="pager" aria-label={say("Pages: {caption}", { caption })}>
          <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
            {say("Previous")}
          </button>
          <span role="status">
            {say("{from}–{to} of {all}", {
              from: String(page * perPage + 1),
              to: String(page * perPage + shown.length),
              all: String(sorted.length),
            })}
          </span>
          <button type="button" disabled={page === pages - 1} onClick={() => setPage(page + 1)}>
            {say("Next")}
          </button>
        </nav>
      )}
    </div>
  );
}

function Heading<Row>({
  column,
  down,
  turn,
}: {
  column: Column<Row>;
  down: boolean | null;
  turn: () => void;
}) {
  const { name, by, numeric } = column;
  const direction = down === null ? "none" : down ? "descending" : "ascending";
  const style = numeric === true ? "numeric" : "";
  if (by === undefined)
    return (
      <th role="columnheader" scope="col" class={style}>
        {name}
      </th>
    );
  return (
    <th role="columnheader" scope="col" class={style} aria-sort={direction}>
      <button type="button" class="sort" onClick={turn}>
        {name}
        <span aria-hidden="true">{down === null ? " ↕" : down ? " ↓" : " ↑"}</span>
      </button>
    </th>
  );
}

function sort<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | null,
): readonly Row[] {
  const by = sorting === null ? undefined : columns[sorting.column]?.by;
  if (by === undefined) return rows;
  const sign = sorting?.down === true ? -1 : 1;
  return rows
    .map((row) => ({ row, value: by(row) }))
    .sort((a, b) => sign * compare(a.value, b.value))
    .map(({ row }) => row);
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
const compare = (a: string | number, b: string | number): number =>
  typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
