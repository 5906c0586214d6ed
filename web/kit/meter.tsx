import { say } from "#web/kit/say.ts";

/** The used part of a limit: a bar, and the same in figures for screen readers. */
export function Meter({ label, used, limit }: { label: string; used: number; limit: number }) {
  const part = limit === 0 ? 1 : Math.min(1, used / limit);
  const level = part >= 0.95 ? "full" : part >= 0.8 ? "high" : "fine";
  return (
    <div
      class={`meter ${level}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(used, limit)}
      aria-valuetext={say("{used} of {all} used", { used, all: limit })}
    >
      <svg width="100%" height="8" aria-hidden="true">
        <rect class="all" width="100%" height="8" rx="4" />
        <rect class="used" width={`${Math.max(part * 100, used > 0 ? 1 : 0)}%`} height="8" rx="4" />
      </svg>
    </div>
  );
}
