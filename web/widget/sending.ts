import { signal } from "@preact/signals";
import { minuteMs } from "#src/domain/units.ts";
import { type Result, sendMark, type Statement } from "#web/widget/mark.ts";
import { say } from "#web/widget/message.ts";
import { amend, drop, enter } from "#web/widget/offline/outbox.ts";
import { selected } from "#web/widget/panels.ts";

/** A driver's mark that may still be taken back (decisions 15.16). */
export interface Said {
  stationId: string;
  /** `confirm`: confirms the pending status that the driver sees. */
  what: "report" | "confirm";
  statement: Statement;
}

const undoS = 5;
// The limit for a second sheet that somebody leaves open.
const heldMs = 10 * minuteMs;

/** A mark that goes out in so many seconds. */
export const waiting = signal<(Said & WaitingMark) | null>(null);

interface WaitingMark {
  /** The mark's id in the outbox. */
  id: string;
  leftS: number;
  /** The driver adds details: the seconds stand still (decisions 15.37). */
  held: boolean;
}

/** Whether the mark of that station is on its way. */
export const sending = signal<string | null>(null);
/** The result of the last mark, for the card of its station. */
export const result = signal<(Result & { stationId: string }) | null>(null);

let timer: ReturnType<typeof setInterval> | undefined;

/** Sends the mark in five seconds, unless it is taken back; a mark that waited before goes out at once. */
export function sendSoon(said: Said): void {
  sendNow();
  result.value = null;
  waiting.value = { ...said, id: enter(said), leftS: undoS, held: false };
  timer = setInterval(() => {
    const now = waiting.peek();
    if (now?.held === true) return;
    if (now === null || now.leftS <= 1) sendNow();
    else waiting.value = { ...now, leftS: now.leftS - 1 };
  }, 1000);
}

/** Holds the waiting mark until details are added to it or `letGo`. */
export function hold(): void {
  const said = waiting.peek();
  if (said === null) return;
  waiting.value = { ...said, held: true };
  amend(said, heldMs);
}

/** Lets the held mark go out in five seconds. */
export function letGo(): void {
  const said = waiting.peek();
  if (said?.held !== true) return;
  waiting.value = { ...said, held: false, leftS: undoS };
  amend(said);
}

/** Gives the mark that is held these details in place of all others. */
export function addToWaiting(details: Omit<Statement, "status">): void {
  const said = waiting.peek();
  if (said?.held !== true) return;
  const more = { ...said, statement: { status: said.statement.status, ...details } };
  waiting.value = more;
  amend(more, heldMs);
}

/** Takes it back: nothing has been sent. */
export function undo(): void {
  const said = take();
  if (said !== null) void drop(said.id);
}

function take(): (Said & { id: string }) | null {
  const said = waiting.peek();
  clearInterval(timer);
  waiting.value = null;
  return said;
}

/** Sends the waiting mark, if there is one. */
export function sendNow(): void {
  const said = take();
  if (said !== null) void send(said);
}

async function send({ id, stationId, statement }: Said & { id: string }): Promise<void> {
  sending.value = stationId;
  const told = await sendMark(id, stationId, statement.status);
  if (sending.peek() === stationId) sending.value = null;
  result.value = { ...told, stationId };
  // A viewer who has left the card gets a message.
  if (selected.peek()?.id !== stationId) say(told.text);
}

/** A mark that waited for the network has arrived: the card that said so says what became of it. */
export function noteArrival(arrived: Result & { stationId: string }): void {
  if (result.peek()?.stationId === arrived.stationId) result.value = arrived;
}

/** A page that is left or put away sends at once: nobody may come back to it. */
export function sendWhenLeft(): void {
  addEventListener("pagehide", sendNow);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) sendNow();
  });
}
