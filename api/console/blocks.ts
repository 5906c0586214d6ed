import { actCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { type SourceBlock, blockNetwork, blockReporter } from "#src/marks/source-blocks.ts";

const answer = (block: SourceBlock) => block;

/** Holds the marks of a reporter or of a viewers' network until a time (decisions 4.13). */
export const blockCalls = (services: ConsoleDeps): ConsoleCall[] => [
  actCall(services, "POST", "/reporters/{id}/block", blockReporter, { answer }),
  actCall(services, "POST", "/networks/{id}/block", blockNetwork, { answer }),
];
