import { type Channel, channelsOf, faultOf, isPartial } from "#src/alarms/channels.ts";
import { claimChannel, noteFailure, noteTold, untoldAlarms } from "#src/alarms/claims.ts";
import { alarmMessage, unstoredAlarm } from "#src/alarms/message.ts";
import { hourMs, minuteMs, pauseMs } from "#src/domain/units.ts";
import { listen, type Listener } from "#src/infrastructure/listen.ts";
import { createNextRun } from "#src/infrastructure/polled.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

/** A receiver that is back gets its alarms after a minute at most. */
const longestPauseMs = minuteMs;
/** The pause when another process has just claimed the channel. */
const shortestPauseMs = 200;

interface Deps extends Pick<Resources, "db" | "config" | "log" | "clock" | "redis"> {
  database: { lastingRefusal(): string | null };
}

/**
 * Tells the operator of alarms through the channels of the settings (decisions 16.18). NOTIFY wakes it, and it
 * looks by itself every `alarmPollMs`. Several processes may run it. Without a channel it does nothing.
 */
export function createAlarmSender(deps: Deps) {
  const { config, log, clock } = deps;
  const loops = channelsOf(config, clock).map((channel) => createLoop(deps, channel));
  let listener: Listener | null = null;
  const look = (): void => loops.forEach((loop) => loop.look());
  return {
    start(): void {
      if (loops.length === 0) {
        log.info("alarms are not sent: neither ALARM_EMAIL_TO nor ALARM_WEBHOOK_URL is set");
        return;
      }
      listener = listen(config, log, "alarms", look);
      look();
    },
    /** Waits for a message that is being sent. */
    async stop(): Promise<void> {
      await listener?.stop();
      for (const loop of loops) await loop.stop();
    },
  };
}

/** A loop for one channel, so that a slow or dead receiver does not stop the others. */
function createLoop(deps: Deps, channel: Channel) {
  const { config, log } = deps;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let isBlind = false;
  let toldAt = -Infinity;
  const { run, idle } = createNextRun(async () => {
    clearTimeout(timer);
    let waitMs = config.alarmPollMs;
    try {
      const reason = deps.database.lastingRefusal();
      if (reason !== null && performance.now() - toldAt > hourMs)
        if (await sendUnstored(deps, channel, reason)) toldAt = performance.now();
      waitMs = Math.min(waitMs, await sendDue(deps, channel));
      isBlind = false;
    } catch (error) {
      log[isBlind ? "debug" : "warn"](
        { channel: channel.name, err: (error as Error).message },
        "cannot look for alarms, will try again",
      );
      isBlind = true;
    }
    if (!stopped) timer = setTimeout(look, waitMs);
  });
  const look = (): void => {
    if (!stopped) void run();
  };
  return {
    look,
    stop: async (): Promise<void> => {
      stopped = true;
      await idle();
      clearTimeout(timer);
    },
  };
}

/**
 * Tells that the database takes no writes, which cannot be stored as an alarm (decisions 21.25): once an hour, by one
 * process as long as Redis is there, or by the next after a minute if that one dies or fails. False when another one
 * does. Rejects when the channel did not take it.
 */
async function sendUnstored(
  { config, log, clock, redis }: Deps,
  channel: Channel,
  reason: string,
): Promise<boolean> {
  const key = `${config.redisPrefix}:unstored-alarm:${channel.name}`;
  const claimed = await redis.set(key, "1", "PX", minuteMs, "NX").catch(() => "OK");
  if (claimed === null) return false;
  const alarm = unstoredAlarm("writes-refused", reason, clock());
  const sent = channel.send(alarmMessage([alarm], config.baseUrl));
  const { fault } = await sent.catch((error: unknown) => {
    throw new Error(faultOf(error), { cause: error });
  });
  await redis.set(key, "1", "PX", hourMs).catch(() => undefined);
  const fields = { channel: channel.name, count: 1 };
  if (fault === null) log.info(fields, "alarms sent");
  else log.warn({ ...fields, err: fault }, notToAll);
  return true;
}

const notToAll = "alarms sent, but not to every address";

/** Sends all waiting alarms in one message, if it is this process's turn. Gives the time until the next look, ms. */
async function sendDue({ db, config, log }: Deps, channel: Channel): Promise<number> {
  const found = await claimChannel(db, channel.name);
  if (found.claim === null)
    return found.waitMs === null ? Infinity : Math.max(found.waitMs, shortestPauseMs);
  const { claim } = found;
  const alarms = await untoldAlarms(db, channel.name);
  if (alarms.length === 0) {
    await noteTold(db, claim, [], 0);
    return Infinity;
  }
  const fields = { channel: channel.name, count: alarms.length };
  let fault: string | null;
  try {
    fault = (await channel.send(alarmMessage(alarms, config.baseUrl))).fault;
  } catch (error) {
    const againInMs = pauseMs(claim.failures, config.alarmPollMs, longestPauseMs);
    const err = faultOf(error);
    await noteFailure(db, claim, err, againInMs);
    log[claim.failures === 0 || isPartial(claim.fault) ? "error" : "debug"](
      { ...fields, err, againInMs },
      "alarms not sent, will say when they are",
    );
    return againInMs;
  }
  await noteTold(db, claim, alarms, channel.gapMs);
  if (fault === null)
    log.info(fields, claim.failures === 0 ? "alarms sent" : "alarms sent, after failures");
  else {
    // Told all the same: whoever got the message must not get it again.
    await noteFailure(db, claim, fault, channel.gapMs);
    log.warn({ ...fields, err: fault }, notToAll);
  }
  return channel.gapMs;
}
