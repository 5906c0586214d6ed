import { Command } from "commander";
import { confirmed } from "#cli/confirm.ts";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import { card, table, type Output } from "#cli/output.ts";
import { Refusal, unknown } from "#cli/refusal.ts";
import { choice, id, moment } from "#cli/values.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { statuses, type Status } from "#src/domain/vocabulary.ts";
import { createProgress } from "#src/infrastructure/progress.ts";
import { previewRollback, type Preview } from "#src/marks/rollback-preview.ts";
import { runRollback } from "#src/marks/rollback.ts";
import { findReporter, type Selection } from "#src/marks/rollback-selection.ts";

const shownStations = 50;

interface Options {
  key?: number;
  partner?: number;
  reporter?: string;
  station?: string;
  status?: Status;
  since?: number;
  until?: number;
  dryRun: boolean;
  yes?: boolean;
}

/** `operator marks rollback`: withdraws marks as if they had never been made (decisions.md 4). */
export const rollbackCommand = (output: () => Output): Command =>
  new Command("rollback")
    .description("withdraw marks as if they had never been made; first shows what would change")
    .option("--key <id>", "marks that came through this key", id("key"))
    .option("--partner <id>", "marks of this partner's users", id("partner"))
    .option("--reporter <id|hash>", "marks of this reporter", reporter)
    .option("--station <id>", "marks at this station", station)
    .option(
      `--status <${statuses.join("|")}>`,
      "marks with this status",
      choice("--status", statuses),
    )
    .option("--since <time>", "marks received at this UTC time or later", moment("--since"))
    .option("--until <time>", "marks received before this UTC time", moment("--until"))
    .option("--dry-run", "only show what would change", false)
    .option("--yes", "do not ask for confirmation")
    .addHelpText(
      "after",
      examples(
        'marks rollback --key 7 --since "2026-11-21 10:00:00" --dry-run',
        'marks rollback --key 7 --since "2026-11-21 10:00:00" --status no',
      ),
    )
    .action(async (options: Options) => {
      const { key, partner, reporter: who, station: where, since } = options;
      if ([key, partner, who, where, since].every((one) => one === undefined))
        throw new Refusal("name at least one of --key, --partner, --reporter, --station, --since");
      const out = output();
      const progress = createProgress(output().stderr);
      const value = await withDb(output(), async (db, config) => {
        const selection = await selectionFrom(db, options);
        const preview = await previewRollback(db, selection, config, shownStations);
        if (options.dryRun || preview.marks === 0) return { ...preview, dry_run: options.dryRun };
        if (!out.json) out.note(`${people(preview)}\n`);
        const ask = `Withdraw these ${preview.marks} marks permanently?`;
        if (!options.yes && !(await confirmed(out, ask))) throw new Refusal("nothing withdrawn", 1);
        const by = { actor: out.actor, details: logged(options) };
        const waking: string[] = [];
        const sum = await runRollback(db, selection, by, (stationIds, done, total) => {
          waking.push(...stationIds);
          progress.show("withdrawing", done, total);
        });
        await wakeMarks(config, waking);
        return { ...preview, ...sum, dry_run: false };
      }).finally(() => progress.end());
      out.result(value, (all) =>
        all.dry_run || all.marks === 0
          ? people(all)
          : card({ withdrawn_marks: all.marks, stations: all.stations }),
      );
    });

async function selectionFrom(db: Db, options: Options): Promise<Selection> {
  const { key, partner, reporter: name, station: stationId, status, since, until } = options;
  const reporterId = name === undefined ? undefined : await findReporter(db, name);
  if (reporterId === null) throw unknown("reporter", name ?? "", "review list");
  const given = { keyId: key, partnerId: partner, reporterId, stationId, status, since, until };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The selection as it was typed, for the operator's log. */
function logged({ key, partner, reporter: who, station: where, status, since, until }: Options) {
  const shownTime = (at: number | undefined) => (at === undefined ? undefined : formatTime(at));
  const typed = { key, partner, reporter: who, station: where, status };
  return { ...typed, since: shownTime(since), until: shownTime(until) };
}

function people({ marks, held, reporters, stations, changes }: Preview): string {
  if (marks === 0) return "no matching marks: nothing to withdraw";
  const sums = `${marks} marks (${held} of them held) of ${reporters} reporters at ${stations} stations`;
  const lines = changes.map(({ station_id, marks: here, before, after }) => ({
    station: station_id,
    marks: here,
    status: arrow(before.status, after.status),
    confirmations: arrow(before.confirmations, after.confirmations),
    pending: arrow(before.pending_status || "-", after.pending_status || "-"),
    updated: arrow(before.updated || "-", after.updated || "-"),
  }));
  const more =
    stations > changes.length ? `\n… and ${stations - changes.length} more stations` : "";
  return `${sums}\n\n${table(lines, "")}${more}`;
}

const arrow = (before: string | number, after: string | number): string =>
  before === after ? String(before) : `${before} → ${after}`;

function reporter(text: string): string {
  const name = text.trim().toLowerCase();
  if (!/^([1-9]\d{0,14}|[0-9a-f]{64})$/.test(name))
    throw new Refusal(`--reporter must be a reporter's id or the hex of its hash, not "${text}"`);
  return name;
}

function station(text: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(text))
    throw new Refusal(`--station must be a station's id, not "${text}"`);
  return text;
}
