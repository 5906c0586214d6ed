/** The texts of a kind of alarm for an operator. */
interface KindOfAlarm {
  /** A short title, as in the subject of a message. */
  title: string;
  meaning: string;
  /** The remedies: a command of `operator`, and a page of the console. */
  command: string;
  page: string;
}

/** Every kind of alarm. A released kind keeps its name, which is in rows and in labels of metrics. */
export const alarmKinds = {
  "marks-held": {
    title: "Marks are held for review",
    meaning:
      "One source made more harmful changes in this city than its limit. Its marks do not count until you approve them.",
    command: "review list",
    page: "/review",
  },
  "first-statuses": {
    title: "New users give many stations their first status",
    meaning:
      "In an hour, new users of one source said that there is fuel at more stations without a status than its limit. Nothing is held: a launch looks the same. If it is an attack, roll it back by key or network and first seen.",
    command: "marks rollback --help",
    page: "/rollback",
  },
  "station-stuck": {
    title: "A station cannot be calculated",
    meaning:
      "Calculating this station failed. It keeps its last status and is tried again; other stations are not affected.",
    command: "queues refolds",
    page: "/",
  },
  "mark-failed": {
    title: "A mark could not be processed",
    meaning: "It was set aside, and all other marks go on. Read why, then have it processed again.",
    command: "marks failed",
    page: "/",
  },
  "rows-unreadable": {
    title: "Stored rows cannot be read",
    meaning:
      "A process cannot use these rows and goes on without them; the others are not affected. The log names them. States of stations and days of insights are made anew by themselves; any other row needs an operator.",
    command: "queues refolds",
    page: "/",
  },
  "sign-ins-failed": {
    title: "Many sign-ins to the console have failed",
    meaning:
      "Somebody may be guessing a password. Delays hold them up, and browsers that signed in before still can. The account is named by its number.",
    command: "log list --action console.sign-in-failed",
    page: "/log",
  },
  "webhook-off": {
    title: "A partner's webhook was switched off",
    meaning:
      "Its receiver has failed for three days, or has answered 410. The partner sees it in the dashboard and can switch it on again; tell them if it was not meant.",
    command: "webhook list",
    page: "/partners",
  },
  "feed-failing": {
    title: "A feed has failed three times",
    meaning:
      "Its files could not be fetched or imported three times in a row or more. What it had imported stays. Its page says why.",
    command: "feed list",
    page: "/feeds",
  },
  "feed-refused": {
    title: "The file of a feed was refused",
    meaning:
      "It is not what it should be: it has shrunk, lies in another country, says that nobody has fuel, or is no such file. Nothing was changed. If it is right, run the feed with the guard that its page names.",
    command: "feed list",
    page: "/feeds",
  },
  "feed-silent": {
    title: "A feed has brought nothing new for too long",
    meaning:
      "Its files are unchanged, or cannot be fetched, or no `imports` process runs. Statuses of a silent feed end after 24 hours; its stations stay.",
    command: "feed list",
    page: "/feeds",
  },
  "duty-late": {
    title: "A periodic duty is not done any more",
    meaning:
      "It has not succeeded in three of its periods. `clock`: no clock process runs, and nothing periodic is done. Start the process, or read its log.",
    command: "queues",
    page: "/",
  },
  "deletion-waits": {
    title: "Old data waits for you before it is deleted",
    meaning:
      "More is due for deletion than usual. Either nothing was deleted for days, or a retention setting was lowered, or the clock of the database is wrong. Nothing of this kind is deleted until you allow it. Look at the clock first.",
    command: "retention show",
    page: "/",
  },
  "database-changed": {
    title: "The database is another one than before",
    meaning:
      "A standby took over, or a backup was restored. All stations were marked as changed, so that every copy follows. What the database lost does not come back by itself: marks, keys, decisions.",
    command: "log list --action database.failover",
    page: "/log",
  },
  "writes-refused": {
    title: "The database takes no writes",
    meaning:
      "Its disk is full, or it was made read-only. Marks are answered 503, and their senders send them again; reads go on. Make room, or make it writable.",
    command: "queues",
    page: "/",
  },
  "copies-differ": {
    title: "Copies of the stations differ",
    meaning:
      "Processes, the stored dump or the database have not said the same of the stations at the same change, in three comparisons in a row. Restart `web` and `snapshots` one after the other: each then reads everything anew.",
    command: "queues",
    page: "/",
  },
  "answers-broken": {
    title: "Partners get broken lists",
    meaning:
      "A web process was asked for the whole country as a partner would ask, and twice its answer could not be read, or had other stations than the database. Its figures name the process, the coding and the fault. Restart that process; if it comes again, go back to the version before.",
    command: "queues",
    page: "/",
  },
  "statuses-lost": {
    title: "Many stations have lost their status at once",
    meaning:
      "A fifth of the statuses or more was gone within a minute. If it was no rollback and no import, look at what was changed last and at the log of the marks workers.",
    command: "log list",
    page: "/log",
  },
  "collation-changed": {
    title: "The database sorts text in another way",
    meaning:
      "Its operating system has another version of the collation than its indexes were made with: names that must be unique can be stored twice. Build the indexes anew; the service may run on.",
    command: "database reindex",
    page: "/",
  },
  "clock-off": {
    title: "Clocks differ",
    meaning:
      "The clock of Postgres, of Redis, or of a machine that runs a process differs from the others by seconds. From 30 seconds on, such a process makes and deletes nothing, and marks are refused while it is Postgres's. Set that clock by NTP; nothing needs a restart.",
    command: "queues",
    page: "/",
  },
} as const satisfies Record<string, KindOfAlarm>;

export type AlarmKind = keyof typeof alarmKinds;

/** The texts of a kind in a row. An unknown kind may come from a process of a later version. */
export const kindNamed = (name: string): KindOfAlarm =>
  Object.hasOwn(alarmKinds, name)
    ? alarmKinds[name as AlarmKind]
    : { title: name, meaning: "", command: "alarm list", page: "/" };
