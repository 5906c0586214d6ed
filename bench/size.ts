import { cpus } from "node:os";
import { openFilledStage } from "#bench/filled-stage.ts";
import { startServer } from "#bench/processes.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";

const clients = 16;

interface Size {
  name: string;
  rows: number;
  /** Heap, TOAST and indexes. */
  bytes: number;
}

/**
 * What a mark takes in Postgres: marks through `web` and `marks` into a country of 30,000 stations, and the growth of
 * each table with its indexes. Answers the section of results.md.
 */
export async function benchSize({ seconds }: { seconds: number }): Promise<string> {
  const stage = await openFilledStage({}, { queryTimeoutMs: 600_000 });
  try {
    const { db, load } = stage;
    const before = await sizes(db);
    const port = await somePort();
    const procfile = readProcfile();
    for (const role of ["web", "marks"]) {
      const server = await startServer(procfile.get(role)!, {
        ...stage.settings,
        PORT: String(port),
      });
      stage.onClose(() => server.stop());
    }
    const measured = await load.run({ side: "Fuelmark", port, pace: { clients }, seconds });
    load.stop();
    const after = await sizes(db);
    const [version] = await rows<{ version: string }>(
      db,
      "select split_part(current_setting('server_version'), ' ', 1) as version",
    );
    return report(before, after, {
      seconds,
      statuses: measured.statuses,
      postgres: version!.version,
    });
  } finally {
    await stage.close();
  }
}

/** Of each table, when it is vacuumed; the tables of days as one. */
async function sizes(db: Db): Promise<Map<string, Size>> {
  await db.raw("vacuum analyze");
  const found = await rows<Size>(
    db,
    `select case when relname ~ '^marks_[0-9]{6,8}$' then 'marks' else relname end as name,
       sum(greatest(reltuples, 0))::float8 as rows, sum(pg_total_relation_size(oid))::float8 as bytes
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace group by 1`,
  );
  return new Map(found.map((size) => [size.name, size]));
}

function report(
  before: ReadonlyMap<string, Size>,
  after: ReadonlyMap<string, Size>,
  run: { seconds: number; statuses: Record<string, number>; postgres: string },
): string {
  const grown = [...after.values()]
    .map(({ name, rows, bytes }) => ({
      name,
      rows: rows - (before.get(name)?.rows ?? 0),
      bytes: bytes - (before.get(name)?.bytes ?? 0),
    }))
    .filter(({ bytes }) => bytes > 0)
    .toSorted((a, b) => b.bytes - a.bytes);
  const marks = grown.find(({ name }) => name === "marks")?.rows ?? 0;
  const lines = grown.map(
    ({ name, rows, bytes }) =>
      `| ${name} | ${Math.round(rows)} | ${(bytes / 1e6).toFixed(1)} | ${(bytes / marks).toFixed(0)} |`,
  );
  return `What a mark takes in Postgres: \`POST …/report\` from ${clients} clients for ${run.seconds} s, with \`external_id\`, position, grades and now and then a price, each from another user, one in 20 new. 30,000 stations, 400,000 users known before. Growth of each table with its indexes, vacuumed before and after.

| table | rows more | MB more | bytes a mark |
|---|---|---|---|
${lines.join("\n")}

${new Date().toISOString().slice(0, 10)}, \`npm run bench -- size --seconds ${run.seconds}\`, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), Node ${process.versions.node}, Postgres ${run.postgres}. Answers: ${Object.entries(
    run.statuses,
  )
    .map(([status, count]) => `${status} × ${count}`)
    .join(", ")}.
`;
}
