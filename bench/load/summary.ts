/** What one stretch of load came to. Times in ms but for `seconds`. */
export interface Summary {
  requests: number;
  seconds: number;
  p50: number;
  p99: number;
}

/** Sums up the latencies of requests that began at `startedAt` (of `performance.now()`) and are over now. */
export function summaryOf(latencies: number[], startedAt: number): Summary {
  const seconds = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const quantile = (q: number): number => latencies[Math.floor(latencies.length * q)] ?? 0;
  return { requests: latencies.length, seconds, p50: quantile(0.5), p99: quantile(0.99) };
}
