import { Command } from "commander";
import { moment, stationId, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, table, type Output } from "#cli/output.ts";
import { formatTime } from "#src/domain/time.ts";
import { loadRuns, rebuildRuns } from "#src/marks/stored-runs.ts";
import { unknown } from "#src/operators/act.ts";

/** `operator runs list|rebuild`: the statuses of a station with their times (decisions 2.36). */
export function runsCommand(output: () => Output): Command {
  const command = new Command("runs").description("what stations served, from when to when");

  verb(
    command,
    "list",
    "the statuses that a station served, oldest first; without `to`: still served",
    "runs list --station demo-1",
    "runs list --station demo-1 --since 2026-11-01 --json",
  )
    .requiredOption("--station <id>", "the station", stationId)
    .option(
      "--since <time>",
      "only those that had not ended before this UTC time; by default all",
      moment,
    )
    .action(async ({ station, since = 0 }: { station: string; since?: number }) => {
      const runs = await withDb(
        output(),
        async (db, config) =>
          (await loadRuns(db, station, since, config)) ?? unknown("station", station),
      );
      const list = runs.map(({ status, from, to }) => ({
        status,
        from: formatTime(from),
        to: to === null ? null : formatTime(to),
      }));
      output().result(list, (all) => table(all, "no status was served"));
    });

  verb(
    command,
    "rebuild",
    "work out anew, from the kept marks and imports, what stations served; may run again, and beside everything",
    "runs rebuild",
    "runs rebuild --station demo-1",
  )
    .option("--station <id>", "only this station", stationId)
    .action(async ({ station }: { station?: string }) => {
      const out = output();
      const rebuilt = await withDb(out, (db, config, progress) =>
        rebuildRuns(db, out.actor, config, station, (done, total) =>
          progress.show("rebuilding", done, total),
        ),
      );
      if (rebuilt.busy.length > 0)
        out.note("stations that got marks all the time are left as they were: run it again");
      out.result({ ...rebuilt }, card);
    });

  return command;
}
