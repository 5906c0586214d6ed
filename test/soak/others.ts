import { readdirSync, readlinkSync } from "node:fs";
import { readExposition } from "#test/api/exposition.ts";
import type { Violation } from "#test/fault/history.ts";
import { until } from "#test/flow/client.ts";
import type { Member, SoakStage } from "#test/soak/stage.ts";

/** How a call of somebody else was answered. `status`: 0 or less where nothing came. */
export interface Answered {
  ms: number;
  status: number;
}

/** What others were answered in a time. */
export interface Served {
  forMs: number;
  reads: readonly Answered[];
  marks: readonly Answered[];
}

/** Others wait at most so many times longer than before, and so much besides: far from what a busy machine does by itself. */
const slowerMost = 20;
const slowerMs = 500;
const rateLeast = 0.3;
const servedLeast = 0.9;
const countLeast = 15;
/** A shorter time says nothing. */
const forLeastMs = 8000;

/** Whether the time of a fault is long enough to be compared with the one before it. */
export const canCompare = (before: Served, during: Served): boolean =>
  during.forMs >= forLeastMs &&
  before.reads.length >= countLeast &&
  before.marks.length >= countLeast;

/**
 * What others had of a fault: in its time they are answered about as often and as soon as before, and not refused.
 *
 * @param mayRefuse reads may be 503 for a moment, as long ones are while others' wait unread
 */
export function lookAtOthers(before: Served, during: Served, mayRefuse = false): Violation[] {
  return (["reads", "marks"] as const).flatMap((kind) => {
    const [was, is] = [before[kind], during[kind]];
    const [rateWas, rateIs] = [was.length / before.forMs, is.length / during.forMs];
    const [msWas, msIs] = [medianOf(was), medianOf(is)];
    const served = is.filter(
      ({ status }) =>
        (status > 0 && status < 500 && status !== 429) ||
        (mayRefuse && kind === "reads" && status === 503),
    );
    const share = served.length / Math.max(1, is.length);
    const found: Violation[] = [];
    const evidence = { rateWas, rateIs, msWas, msIs, share, count: is.length };
    if (rateIs < rateWas * rateLeast) found.push({ invariant: `others' ${kind} go on`, evidence });
    if (msIs > msWas * slowerMost + slowerMs)
      found.push({ invariant: `others' ${kind} take about as long as before`, evidence });
    if (share < servedLeast) found.push({ invariant: `others' ${kind} are served`, evidence });
    return found;
  });
}

/** In words, for the time line. */
export const tellServed = ({ reads, marks }: Served): string =>
  `${reads.length} reads ${medianOf(reads)} ms, ${marks.length} marks ${medianOf(marks)} ms`;

const medianOf = (of: readonly Answered[]): number =>
  of.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(of.length / 2)] ?? 0;

/** What a web process holds. */
export interface Held {
  /** Of the machine: what the system's allocator has freed may stay with the process. */
  residentMb: number;
  /** In use: the heap, and buffers beside it. */
  usedMb: number;
  sockets: number;
  /** Answers that wait unread. */
  unread: number;
}

export async function heldBy(web: Pick<Member, "process">): Promise<Held> {
  const { pid, baseUrl } = web.process();
  const samples = readExposition(await (await fetch(`${baseUrl}/metrics`)).text());
  const mbOf = (...names: string[]): number =>
    Math.round(names.reduce((sum, name) => sum + (samples.get(name) ?? 0), 0) / 2 ** 20);
  const folder = `/proc/${pid}/fd`;
  const sockets = readdirSync(folder).filter((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`).startsWith("socket:");
    } catch {
      return false;
    }
  });
  return {
    residentMb: mbOf("process_resident_memory_bytes"),
    usedMb: mbOf("nodejs_heap_size_used_bytes", "nodejs_external_memory_bytes"),
    sockets: sockets.length,
    unread: samples.get("fuelmark_unread_answers") ?? 0,
  };
}

const wentBackMs = 90_000;
/** A process at rest has about 60 MB and 40 to 100 sockets. */
const usedMostMb = 200;
const socketsMost = 200;
/** Three quarters of what the manifests give to a web process. */
const residentMostMb = 768;

/** Until no answer waits unread, and each web process is about as large as at its start. */
export async function untilAtRest({ webs }: Pick<SoakStage, "webs">): Promise<Violation[]> {
  for (const web of webs)
    await until(
      async () => ({ web: web.name, ...(await heldBy(web)) }),
      ({ residentMb, usedMb, sockets, unread }) =>
        unread === 0 &&
        usedMb <= usedMostMb &&
        sockets <= socketsMost &&
        residentMb <= residentMostMb,
      wentBackMs,
    );
  return [];
}
