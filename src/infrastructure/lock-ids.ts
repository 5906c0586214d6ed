/**
 * Every advisory lock of the service. Postgres keeps locks named by one bigint apart from those named by two integers,
 * but no number is used twice even so: a reader of pg_locks can then tell them by their number alone. The ids of
 * released migrations stand in their SQL and are repeated here. A number, once released, keeps its meaning: processes
 * of two versions run side by side during a deploy.
 *
 * Order: `importSource` or `intakePartner`, then rows of stations (`station-lock.ts`), then `changeFeed`, which is
 * the last before commit. The others are held alone, `migrate` around `markPartitions`.
 */
export const lockIds = {
  /** Number and time of a change: follow the order of commits. SQL of 0002_create_change_feed, 0010_send_statements_together. */
  changeFeed: 7_166_733,
  /** Making partitions of marks. SQL of 0003_create_mark_partitions. */
  markPartitions: 7_166_734,
  /** One process migrates, the others wait for it. */
  migrate: 7_166_735,
  /** With a partner's id, 0 for the widget: facts about its marks and their insert are one step. Several in ascending order. */
  intakePartner: 7_166_736,
  /** The key of the map at / is issued once. */
  consumerKey: 7_166_737,
  /** With the hash of what is imported ("stations of osm"): one import of it at a time. */
  importSource: 7_166_738,
} as const;
