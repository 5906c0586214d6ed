import type { ConsoleHealth } from "#src/contract/console.ts";

type Figures = NonNullable<ConsoleHealth["marks"]>;

/** A page of the console: in the menu, and in the palette, which also knows other words for it. */
export interface SitePage {
  path: string;
  text: string;
  words: string;
  /** How much waits there. */
  count?: (figures: Figures) => number;
}

export const sitePages: readonly SitePage[] = [
  { path: "/", text: "Overview", words: "start home alarms health failed marks" },
  { path: "/partners", text: "Partners", words: "keys webhooks launch block access" },
  {
    path: "/limit-requests",
    text: "Limit requests",
    words: "quota rpm daily approve reject",
    count: (marks) => marks.pending_requests,
  },
  {
    path: "/review",
    text: "Review",
    words: "held marks approve reject groups",
    count: (marks) => marks.held,
  },
  { path: "/rollback", text: "Rollback", words: "withdraw marks attack take back undo" },
  { path: "/people", text: "Privacy", words: "people person export erase" },
  { path: "/stations", text: "Stations", words: "search status history why" },
  { path: "/imports", text: "Imports", words: "files upload cities statuses" },
  { path: "/incidents", text: "Incidents", words: "status page outage tell everybody public" },
  { path: "/log", text: "Log", words: "operator history who did what" },
  { path: "/sessions", text: "Sessions", words: "sign-ins devices end" },
];

/** For the role operator alone, and no page of the script. */
export const queuesPage: SitePage = { path: "queues/", text: "Queues", words: "jobs bull board" };
