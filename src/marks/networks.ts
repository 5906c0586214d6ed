import type { ConsoleNetwork } from "#src/contract/console-review.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { networkDigits } from "#src/marks/source-blocks.ts";
import { msOf } from "#src/marks/marks.ts";

const alarmDays = 7;
const subjectStart = "network ";

/**
 * Viewers' networks that the console names somewhere, by the beginning of their hash: those with held marks, with an
 * alarm that is open or of the last 7 days, and blocked ones (decisions 13.24). At most `limit`, those with the most
 * held marks first, then the latest alarms. Other networks are only in marks, which have no index by network.
 */
export async function namedNetworks(db: Db, limit: number): Promise<ConsoleNetwork[]> {
  const held = await rows<{ network: string; held: number }>(
    db,
    `select left(encode(viewer, 'hex'), ${networkDigits}) as network, count(*) as held from marks
     where review = 'held' and viewer is not null group by 1`,
  );
  const alarms = await rows<{ network: string; alarm: number }>(
    db,
    `select substr(subject, ${subjectStart.length + 1}) as network, ${msOf("max(last_at)")} as alarm from alarms
     where subject like ? and (acknowledged_at is null or raised_at > server_now() - interval '${alarmDays} days')
     group by 1 order by 2 desc limit ?`,
    [`${subjectStart}%`, limit],
  );
  const blocked = await rows<{ network: string; blocked: number }>(
    db,
    `select left(encode(viewer, 'hex'), ${networkDigits}) as network, ${msOf("until")} as blocked from network_blocks
     where until > server_now() order by until desc limit ?`,
    [limit],
  );
  const found = new Map<string, ConsoleNetwork>();
  for (const { network, ...facts } of [...held, ...alarms, ...blocked]) {
    const known = found.get(network) ?? { network, held: 0, alarm: null, blocked: null };
    const more = "held" in facts ? { held: known.held + facts.held } : facts;
    found.set(network, { ...known, ...more });
  }
  return [...found.values()]
    .sort((a, b) => b.held - a.held || (b.alarm ?? 0) - (a.alarm ?? 0))
    .slice(0, limit);
}
