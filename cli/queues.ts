import { Command } from "commander";
import { instanceConfig } from "#cli/instance.ts";
import { table, type Output } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";
import { createLog } from "#src/log.ts";
import { createProducer, queueNames, type Producer } from "#src/queues.ts";

const patienceMs = 5000;

/** `operator queues`: how many jobs wait, run and failed in each queue. */
export const queuesCommand = (output: () => Output): Command =>
  new Command("queues")
    .description("jobs in each queue")
    .addCommand(listCommand(output), { isDefault: true });

const listCommand = (output: () => Output): Command =>
  new Command("list").description("jobs in each queue").action(async () => {
    const config = instanceConfig();
    if (config.redisUrl === "")
      throw new Refusal("no instance found: start one with `npm start`, or set REDIS_URL", 1);
    const producer = createProducer(config, createLog({ logLevel: "silent" }, "operator"));
    try {
      output().result(await counts(producer), (list) => table(list, "no queues"));
    } finally {
      await producer.close();
    }
  });

async function counts(producer: Producer) {
  const giveUp = AbortSignal.timeout(patienceMs);
  const list = [];
  for (const name of queueNames) {
    const { waiting, active, delayed, failed } = await whenReady(producer, name, giveUp);
    list.push({
      queue: name,
      waiting: waiting ?? 0,
      active: active ?? 0,
      delayed: delayed ?? 0,
      failed: failed ?? 0,
    });
  }
  return list;
}

/** The connection refuses at once while it is not there yet: the first moments after its making included. */
async function whenReady(
  producer: Producer,
  name: (typeof queueNames)[number],
  giveUp: AbortSignal,
) {
  for (;;) {
    try {
      return await producer.queue(name).getJobCounts("waiting", "active", "delayed", "failed");
    } catch (error) {
      if (giveUp.aborted)
        throw new Refusal(`Redis does not answer (${(error as Error).message})`, 1);
      await new Promise((resume) => setTimeout(resume, 50));
    }
  }
}
