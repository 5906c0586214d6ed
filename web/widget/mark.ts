import type { FuelBlock } from "#src/domain/state.ts";
import type { Grade, Queue, Status } from "#src/domain/vocabulary.ts";
import { ask, type Told } from "#web/widget/api.ts";
import { noteRefused, noteTaken } from "#web/widget/cooldown.ts";
import { deviceId, noteOwnMark } from "#web/widget/device.ts";
import { askAgain, note } from "#web/widget/loader.ts";
import { noteFuel } from "#web/widget/panels.ts";
import { positionForMark } from "#web/widget/position.ts";
import { config } from "#web/widget/state.ts";
import { tell } from "#web/widget/telling.ts";
import { words } from "#web/widget/words.ts";

// A mark that waits in the queue has its outcome within seconds.
const queuedMs = 5000;

/** What a driver says about a station (docs/contract.md 2.7). */
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

/** Answer to a mark, docs/contract.md 2.8. */
interface Report {
  accepted: boolean;
  remote: boolean;
  duplicate: boolean;
  published: { outcome: string; needed: number | null; have: number | null };
  fuel: FuelBlock;
}

export interface Result {
  taken: boolean;
  /** What has become of it, in the viewer's words. */
  text: string;
}

/** Sends a mark, with the position if the viewer allows it, and shows at once what it has changed. */
export const sendMark = (stationId: string, statement: Statement): Promise<Result> =>
  send(stationId, "report", statement);

/** Confirms the pending status that the viewer sees. */
export const confirmMark = (stationId: string, status: Status): Promise<Result> =>
  send(stationId, "confirm", { status });

async function send(
  stationId: string,
  what: "report" | "confirm",
  statement: Statement,
): Promise<Result> {
  const at = await positionForMark();
  const where = at === null ? {} : { lat: at.lat, lon: at.lon, acc_m: at.accM };
  const told = await ask<Report>(`/widget/stations/${encodeURIComponent(stationId)}/${what}`, {
    body: { ...statement, ...where, device: deviceId() },
  });
  const cooldownS = config.peek()?.cooldown_s ?? 0;
  if (told.kind === "refused" && told.code === "station-cooldown")
    noteRefused(stationId, told.retryAfterS ?? 60, cooldownS);
  if (told.kind !== "ok") return { taken: false, text: refusal(told) };
  noteOwnMark(stationId, statement.status);
  if (!told.body.duplicate) noteTaken(stationId, cooldownS);
  note(stationId, told.body.fuel);
  noteFuel(stationId, told.body.fuel);
  if (told.body.published.outcome === "queued") setTimeout(() => askAgain(stationId), queuedMs);
  const { outcome: became } = told.body.published;
  tell({
    type: "fuelmark:mark-sent",
    station_id: stationId,
    status: statement.status,
    outcome: became,
  });
  return { taken: told.body.accepted, text: outcome(told.body) };
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

/** Every refusal that a mark can meet, in words (docs/contract.md 7, docs/decisions.md 3). */
function refusal(told: Exclude<Told<Report>, { kind: "ok" }>): string {
  const { refusals } = words;
  if (told.kind !== "refused") return refusals.offline;
  const seconds = told.retryAfterS ?? 60;
  switch (told.code) {
    case "own-mark":
      return refusals.ownMark;
    case "nothing-pending":
      return refusals.nothingPending;
    case "station-cooldown":
      return refusals.cooldown(Math.max(1, Math.ceil(seconds / 60)));
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
      return refusals.rateLimit(seconds);
    case "validation-failed":
    case "bad-grade":
      return refusals.invalid;
    case "invalid-key":
    case "partner-disabled":
    case "domain-not-allowed":
      return refusals.keyGone;
    default:
      return told.status >= 500 ? refusals.unavailable : refusals.other;
  }
}
