import type { Condition } from "#src/infrastructure/parts.ts";
import { type AlarmRow, listAlarms } from "#src/alarms/alarms.ts";
import { type ChannelName, channelsOf } from "#src/alarms/channels.ts";
import { readChannels } from "#src/alarms/claims.ts";
import { readHarmful } from "#src/alarms/harmful-counts.ts";
import { alarmKinds } from "#src/contract/alarm-kinds.ts";
import { formatTime } from "#src/domain/time.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Resources } from "#src/infrastructure/resources.ts";
import type { SharedFigures } from "#src/infrastructure/shared-figures.ts";
import { countHeldByReason } from "#src/marks/held.ts";
import { hourMs } from "#src/domain/units.ts";
import { firstIdOfDay, idAfter } from "#src/marks/marks.ts";

/** Figures about alarms and their causes. */
interface AlarmFigures {
  /** Open alarms by kind; every kind is there. */
  open: Record<string, number>;
  /** The newest open ones. */
  newest: AlarmRow[];
  /** Failures in a row of each channel that is set up. */
  failures: Partial<Record<ChannelName, number>>;
  held: Record<string, number>;
  harmful: Awaited<ReturnType<typeof readHarmful>>;
  busiestSourceShare: number;
}

const newestShown = 5;
/** Figures that read marks are taken in each sixth round, once a minute by default, by one process for all. */
const roundsBetweenMarks = 6;
/** Another process's answer must expire before the next look. */
const marksRounds = roundsBetweenMarks - 1;

/** Keeps the figures about alarms in memory, so that requests for them need no database. */
export function createAlarmWatch(
  deps: Pick<Resources, "db" | "config" | "log" | "clock"> & {
    figuresOf: SharedFigures;
  },
) {
  const { db, config, log, clock, figuresOf } = deps;
  const channels = channelsOf(config, clock).map(({ name }) => name);
  let figures: AlarmFigures | null = null;
  let rounds = 0;

  const look = async (): Promise<void> => {
    const { alarms: newest } = await listAlarms(db, "open", newestShown);
    const open = newest.length === 0 ? noneOpen : { ...noneOpen, ...(await countOpen(db)) };
    const failures = channels.length === 0 ? {} : await failuresOf(db, channels);
    const ofMarks =
      figures === null || rounds % roundsBetweenMarks === 0
        ? await figuresOf("alarms", marksRounds * config.alarmPollMs, async () => ({
            held: await countHeldByReason(db),
            busiestSourceShare: await busiestSourceShare(db, clock()),
          }))
        : { held: figures.held, busiestSourceShare: figures.busiestSourceShare };
    figures = { open, newest, failures, harmful: await readHarmful(db), ...ofMarks };
    rounds += 1;
  };
  const { start, stop } = createPolled({
    ...{ everyMs: config.alarmPollMs, look },
    onError: (err) => {
      // The follower has logged that Postgres is away.
      figures = null;
      log.debug({ err }, "no look at the alarms");
    },
  });

  return {
    ...{ start, stop },
    /** As of the last look; null while Postgres is away. */
    figures: (): AlarmFigures | null => figures,
    /**
     * For `/readyz`: degraded when an operator is not told. It names no source, because anybody may read it. An open
     * alarm alone is no fault of the process.
     */
    condition(): Condition {
      if (figures === null) return { ok: true, says: [{ code: "unknown-without-postgres" }] };
      const { open, newest, failures, held, harmful, busiestSourceShare: share } = figures;
      const failing = Object.entries(failures).filter(([, times]) => times > 0);
      const detail = {
        open: sum(Object.values(open)),
        newest: newest.map(lineOf),
        held,
        harmful_changes: sum(harmful.map(({ count }) => count)),
        busiest_source_share: Math.round(share * 1000) / 1000,
        ...(failing.length > 0 ? { failing: Object.fromEntries(failing) } : {}),
      };
      return { ok: failing.length === 0, detail };
    },
  };
}

const noneOpen: Record<string, number> = Object.fromEntries(
  Object.keys(alarmKinds).map((kind) => [kind, 0]),
);

async function countOpen(db: Db): Promise<Record<string, number>> {
  const sql = "select kind, count(*) from alarms where acknowledged_at is null group by kind";
  const found = await rows<{ kind: string; count: number }>(db, sql);
  return Object.fromEntries(found.map(({ kind, count }) => [kind, count]));
}

async function failuresOf(
  db: Db,
  channels: readonly ChannelName[],
): Promise<AlarmFigures["failures"]> {
  const known = (await readChannels(db)).filter(({ channel }) => channels.includes(channel));
  return Object.fromEntries(known.map(({ channel, failures }) => [channel, failures]));
}

const lineOf = ({ kind, city, raised_at: at }: AlarmRow): string =>
  `${kind}${city === "" ? "" : ` in ${city}`} since ${formatTime(at.getTime())}`;

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** The newest marks are enough, and a busy hour costs no more than a quiet one. */
const marksAtMost = 10_000;

/**
 * The share, 0 to 1, that one source has in the counted marks of the last hour: the partner or the viewer's network
 * with the most. Reads at most the newest marks, by their ids. 0 without marks.
 */
async function busiestSourceShare(db: Db, now: number): Promise<number> {
  const [found] = await rows<{ share: number }>(
    db,
    `select coalesce(max(marks) / sum(marks), 0)::double precision as share from (
       select count(*) as marks from (
         select source, partner_id, key_id, viewer, received_at, review from marks
         where id >= ? and id < ? order by id desc limit ${marksAtMost}
       ) newest
       where received_at > server_now() - interval '1 hour' and review in ('none', 'approved')
       group by case source when 'partner' then coalesce('partner ' || partner_id, 'key ' || key_id)
         else encode(viewer, 'hex') end
     ) sources`,
    [firstIdOfDay(now - hourMs), idAfter(now)],
  );
  return found!.share;
}
