import { constants, getPriority, setPriority } from "node:os";
import { roleConfig, untilStopped } from "#src/infrastructure/lifecycle.ts";
import { openTracer } from "#src/infrastructure/tracing.ts";
import { assembleWorker, workerRoles } from "#workers/assemble.ts";

// One worker role per process: `node dist/worker.js marks`.
const name = process.argv[2] ?? "";
const { config, log } = roleConfig(name || "worker");
if (!Object.hasOwn(workerRoles, name)) {
  log.fatal(`name a role: ${Object.keys(workerRoles).join(", ")}`);
  process.exit(1);
}
if (name === "webhooks" || name === "imports") yieldToOthers();
const tracer = await openTracer(config, name, log);
const role = assembleWorker(name, config, log, tracer);
await untilStopped(config, log, {
  start: () => role.start(),
  stop: async () => {
    await role.stop();
    await tracer?.close();
  },
});

/** Lowers the priority: on shared cores, marks and reads come before pushes to others and files (decisions 20.12). */
function yieldToOthers(): void {
  try {
    const { PRIORITY_BELOW_NORMAL: below, PRIORITY_LOW: lowest } = constants.priority;
    // Below the other roles, which have the priority that this process was started with.
    setPriority(Math.min(getPriority() + below, lowest));
  } catch (error) {
    log.debug({ err: (error as Error).message }, "the priority stays as it is");
  }
}
