import { monitorEventLoopDelay } from "node:perf_hooks";

// Loaded with --import into a process under test: on SIGUSR2 it logs its longest event-loop delay since the last time.
const resolution = 1;
const delay = monitorEventLoopDelay({ resolution });
delay.enable();
process.on("SIGUSR2", () => {
  const [longest, p99] = [delay.max, delay.percentile(99)].map((ns) => ns / 1e6 - resolution);
  delay.reset();
  process.stdout.write(`${JSON.stringify({ msg: "loop delay", longest, p99 })}\n`);
});
