import pg from "pg";

interface Sent {
  text: string;
  values: unknown[];
}
/** Statements of one transaction, or one by itself. `generic`: its plans are made without looking at the values. */
interface Transaction {
  generic: boolean;
  statements: Sent[];
}

/**
 * Notes what this process sends to Postgres, but for what tests send by themselves. `stop` before the end of the test
 * file.
 */
export function recordStatements() {
  const { query } = pg.Client.prototype;
  const done: Transaction[] = [];
  const open = new Map<object, Transaction>();
  // oxlint-disable-next-line typescript/no-explicit-any -- pg declares `query` in a dozen forms
  pg.Client.prototype.query = function (this: pg.Client, ...args: any[]): any {
    note(this, args as [string | Sent, unknown?]);
    return Reflect.apply(query, this, args);
  };

  const note = (client: pg.Client, [asked, given]: [string | Sent, unknown?]): void => {
    const { connectionParameters } = client as unknown as {
      connectionParameters: { application_name?: string };
    };
    if (!/^fuelmark (?!test)/.test(connectionParameters.application_name ?? "")) return;
    const text = (typeof asked === "string" ? asked : asked.text).trim();
    const values = (typeof asked === "string" ? given : asked.values) ?? given ?? [];
    const sent = { text, values: Array.isArray(values) ? values : [] };
    if (/^begin\b/i.test(text)) {
      open.set(client, { generic: text.includes("force_generic_plan"), statements: [] });
    } else if (/^(commit|rollback)\b/i.test(text)) {
      const ended = open.get(client);
      if (ended !== undefined) done.push(ended);
      open.delete(client);
    } else if (/^(select|insert|update|delete|with)\b/i.test(text)) {
      const here = open.get(client);
      if (here === undefined) done.push({ generic: false, statements: [sent] });
      else here.statements.push(sent);
    }
  };
  return {
    /** How many transactions were sent so far. */
    count: (): number => done.length,
    /** What was sent after the first so many, one of each kind. */
    transactions: (from = 0): Transaction[] => [
      ...new Map(
        done.slice(from).map((one) => [one.statements.map(({ text }) => text).join(";"), one]),
      ).values(),
    ],
    stop: (): void => {
      pg.Client.prototype.query = query;
    },
  };
}

/**
 * The locks on tables and indexes that a transaction takes: a statement takes them when it is planned, so none is run.
 * With plans that are made without the values, these are locked whatever the values are.
 */
export async function countLocks(
  client: pg.Client,
  { generic, statements }: Transaction,
): Promise<number> {
  await client.query("begin");
  try {
    if (generic) await client.query("set local plan_cache_mode = force_generic_plan");
    for (const { text, values } of statements) {
      if (!generic) await client.query(`explain ${text}`, values);
      else {
        await client.query(`prepare planned as ${text}`);
        const nulls = values.length === 0 ? "" : `(${values.map(() => "null").join(", ")})`;
        await client.query(`explain execute planned${nulls}`);
        await client.query("deallocate planned");
      }
    }
    const { rows } = await client.query<{ count: number }>(
      "select count(*)::int as count from pg_locks where pid = pg_backend_pid() and locktype = 'relation'",
    );
    return rows[0]!.count;
  } finally {
    await client.query("rollback");
  }
}

interface PlanStep {
  "Actual Rows": number;
  Plans?: PlanStep[];
}

/** Runs a statement. Answers how many rows each step of its plan found in one turn: as numbers, since 18 writes `300.00`. */
export async function rowsOfPlan(client: pg.Client, statement: string): Promise<number[]> {
  const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanStep }] }>(
    `explain (analyze, timing off, format json) ${statement}`,
  );
  const stepsOf = (step: PlanStep): number[] => [
    step["Actual Rows"],
    ...(step.Plans ?? []).flatMap(stepsOf),
  ];
  return stepsOf(rows[0]!["QUERY PLAN"][0].Plan);
}
