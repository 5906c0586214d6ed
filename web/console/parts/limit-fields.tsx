import { useState } from "preact/hooks";
import { TextField } from "#web/console/parts/field.tsx";
import { say } from "#web/console/words.ts";

interface Limits {
  rpm: string;
  daily: string;
}

interface LimitFieldsProps extends Limits {
  onChange: (change: Partial<Limits>) => void;
  disabled?: boolean;
}

/** A partner's two limits, within their bounds (docs/contract.md 8). */
export const LimitFields = ({ rpm, daily, onChange, disabled = false }: LimitFieldsProps) => (
  <>
    <TextField
      label={say("Requests per minute")}
      type="number"
      min={1}
      max={100_000}
      value={rpm}
      onChange={(value) => onChange({ rpm: value })}
      required
      disabled={disabled}
    />
    <TextField
      label={say("Requests per day")}
      type="number"
      min={1}
      max={100_000_000}
      value={daily}
      onChange={(value) => onChange({ daily: value })}
      required
      disabled={disabled}
    />
  </>
);

/** Why these limits would stop requests of today; null when they are above its use. `peaks`: busiest minute and day. */
export function belowUse(
  { rpm, daily }: Record<keyof Limits, number>,
  peaks: { minute: number; day: number },
): string | null {
  const words = [
    ...(rpm < peaks.minute
      ? [say("{n} a minute is below its busiest minute: {peak}.", { n: rpm, peak: peaks.minute })]
      : []),
    ...(daily < peaks.day
      ? [say("{n} a day is below its busiest day: {peak}.", { n: daily, peak: peaks.day })]
      : []),
  ];
  if (words.length === 0) return null;
  return `${words.join(" ")} ${say("Requests over the limit are refused with 429.")}`;
}

/** A form's state of the two limits, as text; it begins with these numbers. */
export function useLimits(rpm: number, daily: number): [Limits, (change: Partial<Limits>) => void] {
  const [limits, set] = useState<Limits>({ rpm: String(rpm), daily: String(daily) });
  return [limits, (change) => set((before) => ({ ...before, ...change }))];
}
