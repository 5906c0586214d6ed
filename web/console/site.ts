import { signal } from "@preact/signals";
import type { ConsoleHealth } from "#src/contract/console.ts";
import { say } from "#web/console/words.ts";

type Figures = NonNullable<ConsoleHealth["marks"]>;

/** The counts of what waits, for badges and tiles: of the newest answer, whichever page has asked for it. */
export const figures = signal<Figures | null>(null);
export const counted = (change: Partial<Figures>): void => {
  if (figures.value !== null) figures.value = { ...figures.value, ...change };
};

/** A page of the console: in the menu, and in the palette, which also knows other words for it. */
export interface SitePage {
  path: string;
  text: string;
  words: string;
  /** The number of items that wait there. */
  count?: (figures: Figures) => number;
}

export const sitePages: readonly SitePage[] = [
  { path: "/", text: say("Overview"), words: say("start home alarms health failed marks") },
  { path: "/partners", text: say("Partners"), words: say("keys webhooks launch block access") },
  {
    path: "/limit-requests",
    text: say("Limit requests"),
    words: say("quota rpm daily approve reject"),
    count: (marks) => marks.pending_requests,
  },
  {
    path: "/review",
    text: say("Review"),
    words: say("held marks approve reject groups"),
    count: (marks) => marks.held,
  },
  {
    path: "/suggestions",
    text: say("Suggestions"),
    words: say("drivers say gone closed moved missing station"),
    count: (marks) => marks.suggestions,
  },
  { path: "/rollback", text: say("Rollback"), words: say("withdraw marks attack take back undo") },
  {
    path: "/decisions",
    text: say("Decisions"),
    words: say("undo history blocks who decided what take back"),
  },
  {
    path: "/chances",
    text: say("Chances"),
    words: say("lies sources reporters"),
  },
  { path: "/people", text: say("Privacy"), words: say("people person export erase") },
  { path: "/stations", text: say("Stations"), words: say("search status history why") },
  { path: "/brands", text: say("Brands"), words: say("brand spelling alias name") },
  { path: "/pairs", text: say("Pairs"), words: say("doubles merge join split same station") },
  { path: "/imports", text: say("Imports"), words: say("files upload cities statuses") },
  { path: "/feeds", text: say("Feeds"), words: say("sources fetch schedule every hour") },
  {
    path: "/incidents",
    text: say("Incidents"),
    words: say("status page outage tell everybody public"),
  },
  { path: "/log", text: say("Log"), words: say("operator history who did what") },
  { path: "/sessions", text: say("Sessions"), words: say("sign-ins devices end") },
];

/** The page of the queues: for the role operator only, and served without the console's script. */
export const queuesPage: SitePage = {
  path: "queues/",
  text: say("Queues"),
  words: say("jobs bull board"),
};
