/** Apart from the queues themselves: most commands of the command line name them and need no queue library. */
export const queueNames = ["marks", "snapshots", "upkeep"] as const;
export type QueueName = (typeof queueNames)[number];
