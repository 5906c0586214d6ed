import type { Grade, Queue, Status } from "#src/domain/vocabulary.ts";
import { noteRefused, noteTaken } from "#web/widget/cooldown.ts";
import { noteOwnMark } from "#web/widget/device.ts";
import { askSoon, note } from "#web/widget/loader.ts";
import { say } from "#web/widget/message.ts";
import { deliver, drop, keepSending } from "#web/widget/offline/outbox.ts";
import { offlineWords } from "#web/widget/offline/words-offline.ts";
import { isFinal } from "#web/widget/offline/waiting-entry.ts";
import { noteFuel } from "#web/widget/panels.ts";
import { positionForMark } from "#web/widget/position.ts";
import { config } from "#web/widget/state.ts";
import { tell } from "#web/widget/telling.ts";
import type { Refused, Report } from "#web/widget/told.ts";
import { words } from "#web/widget/words.ts";

/** A driver's statement about a station (docs/contract.md 2.7). */
export interface Statement {
  status: Status;
  fuels?: Grade[];
  fuels_no?: Grade[];
  queue?: Queue;
  prices?: Partial<Record<Grade, number>>;
  limit_l?: number;
  no_cash?: boolean;
  fuel_cards_only?: boolean;
  text?: string;
  express?: boolean;
}

export interface Result {
  taken: boolean;
  /** The outcome in the viewer's language. */
  text: string;
}

const cooldownS = (): number => config.peek()?.cooldown_s ?? 0;

/** Sends a mark of the outbox, with the position if the viewer allows it, and shows its change at once. */
export async function sendMark(id: string, stationId: string, status: Status): Promise<Result> {
  noteOwnMark(stationId, status, id);
  const at = await positionForMark();
  const told = await deliver(id, at === null ? {} : { lat: at.lat, lon: at.lon, acc_m: at.accM });
  // Another tab has sent it.
  if (told === undefined) return { taken: true, text: words.outcomes.queued };
  if (told.kind === "refused" && isFinal(told)) {
    if (told.code === "station-cooldown")
      noteRefused(stationId, told.retryAfterS ?? 60, cooldownS());
    await drop(id);
    return { taken: false, text: refusalText(told) };
  }
  if (told.kind !== "ok") {
    const { waits, kept } = offlineWords;
    return { taken: true, text: told.kind === "refused" ? `${refusalText(told)} ${kept}` : waits };
  }
  noteArrived({ id, stationId, status }, told.body);
  return { taken: told.body.accepted, text: outcome(told.body) };
}

/** Sends marks that wait from before, and tells the outcome of each. */
export const keepSendingMarks = (onArrived: (arrived: Result & { stationId: string }) => void) =>
  keepSending(({ id, stationId, status, title }, report) => {
    if (status === null) return say(offlineWords.suggestionArrived(title));
    noteArrived({ id, stationId, status }, report);
    const text = outcome(report);
    onArrived({ taken: report.accepted, text, stationId });
    say(offlineWords.arrived(title, text));
  });

function noteArrived(
  { id, stationId, status }: { id: string; stationId: string; status: Status },
  { fuel, published, duplicate }: Report,
): void {
  noteOwnMark(stationId, status, id);
  if (!duplicate) noteTaken(stationId, cooldownS());
  note(stationId, fuel);
  noteFuel(stationId, fuel);
  if (published.outcome === "queued") askSoon(stationId);
  tell({
    type: "fuelmark:mark-sent",
    station_id: stationId,
    status,
    outcome: published.outcome,
  });
}

function outcome({ published, remote, duplicate }: Report): string {
  const { outcomes } = words;
  if (duplicate) return outcomes.duplicate;
  const { outcome: name, needed, have } = published;
  const more = Math.max(1, (needed ?? 2) - (have ?? 1));
  const text =
    name === "pending" ? outcomes.pending(more) : outcomes[isPlain(name) ? name : "queued"];
  return remote && name === "pending" ? `${text} ${outcomes.remote}` : text;
}

const plain = [
  "published",
  "confirmed",
  "held",
  "conflict",
  "superseded",
  "expired",
  "queued",
] as const;
const isPlain = (name: string): name is (typeof plain)[number] =>
  (plain as readonly string[]).includes(name);

/** Every refusal that a mark can meet, in words (docs/contract.md 7, decisions 3). */
export function refusalText(told: Refused): string {
  const { refusals } = words;
  switch (told.code) {
    case "own-mark":
      return refusals.ownMark;
    case "nothing-pending":
      return refusals.nothingPending;
    case "station-cooldown":
      return refusals.cooldown(Math.max(1, Math.ceil((told.retryAfterS ?? 60) / 60)));
    case "user-rate-limited":
      return told.window === "86400s" ? refusals.dailyCap : refusals.hourlyCap;
    case "new-users-limit":
      return refusals.newDevices;
    case "too-far":
      return refusals.tooFar;
    case "reports-disabled":
      return refusals.reportsDisabled;
    case "station-not-found":
      return refusals.stationGone;
    case "rate-limit-exceeded":
    case "daily-quota-exceeded":
      return refusals.rateLimit;
    case "validation-failed":
    case "bad-grade":
      return refusals.invalid;
    case "invalid-key":
    case "partner-disabled":
    case "domain-not-allowed":
      return refusals.keyGone;
    default:
      return isFinal(told) ? refusals.other : words.notices.unavailableNow;
  }
}
