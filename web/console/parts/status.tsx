import { say } from "#web/console/words.ts";

const signs: Record<string, [sign: string, word: string]> = {
  yes: ["●", say("Fuel")],
  low: ["◐", say("Little fuel")],
  no: ["✕", say("No fuel")],
  queue: ["≡", say("Queue")],
  nodata: ["○", say("No data")],
};

export const statusWord = (status: string): string => signs[status]?.[1] ?? status;

/** A fuel status by sign, word and colour. */
export function Status({ status }: { status: string }) {
  const [sign, word] = signs[status] ?? ["?", status];
  return (
    <span class="status">
      <span aria-hidden="true" style={{ color: `var(--${status})` }}>
        {sign}
      </span>{" "}
      {word}
    </span>
  );
}
