import { doingBy } from "#web/kit/doing.ts";
import { computed, effect, signal } from "@preact/signals";
import type {
  CallErrors,
  DashboardSession,
  Overview,
  SentMarks,
  ShownHours,
  ShownKey,
  ShownLimitRequest,
  ShownLink,
  ShownRequests,
  ShownWebhook,
} from "#src/contract/dashboard.ts";
import { type Failure, pageApi } from "#web/kit/page-api.ts";
import { resource } from "#web/kit/resource.tsx";
import { recall, remember } from "#web/kit/storage.ts";
import { say } from "#web/dashboard/words.ts";

/** The session that is signed in; null: none; undefined: not known yet. */
export const session = signal<DashboardSession | null | undefined>(undefined);
/** Why the viewer sees the sign-in page again. */
export const parting = signal("");
/** Days of the requests that are shown. */
export const period = signal(14);

/** Requests with which keys are shown: secret ones, or publishable ones. */
export const audience = signal<"partner" | "widget">("partner");
/** Only the failed ones of the last requests. */
export const onlyErrors = signal(false);

export const api = pageApi(() => leave(say("Your session has ended. Sign in again to continue.")));

export const useDoing = doingBy(api);

export const overview = resource<Overview>(() => api.get(`/overview?days=${period.value}`));
export const errors = resource<CallErrors>(() => api.get(`/errors?days=${period.value}`));
export const recent = resource<ShownRequests>(() =>
  api.get(`/recent?audience=${audience.value}${onlyErrors.value ? "&only=errors" : ""}`),
);
export const hours = resource<ShownHours>(() => api.get("/hours"));
export const marks = resource<SentMarks>(() => api.get("/marks"));
export const keys = resource<{ keys: ShownKey[] }>(() => api.get("/keys"));
export const limitRequests = resource<{ requests: ShownLimitRequest[] }>(() =>
  api.get("/limit-requests"),
);

export const webhooks = resource<{ webhooks: ShownWebhook[] }>(() => api.get("/webhooks"));

export const links = resource<{ links: ShownLink[] }>(() => api.get("/links"));

/** Whoever came by a link may look, and change nothing. */
export const isReader = computed(() => session.value?.link != null);

/** There was no request yet. */
export const isNew = computed(() => {
  const days = overview.value.value;
  return days !== null && [...days.days, ...days.widget].every(({ requests }) => requests === 0);
});

/** The part of the page that the address names. */
export const place = signal("");

const forAll = [overview, errors, recent, hours, marks, keys, limitRequests] as const;
const forPartners = [webhooks, links] as const;
const all = [...forAll, ...forPartners] as const;
const seen = () => (isReader.value ? forAll : all);
/** Asked for again when a signal in their question changes. */
const watched: readonly { load(): Promise<void> }[] = [overview, errors, recent];
const refreshMs = 15_000;
const rarely = 4;
// Says that there may be a session; no script can read the session itself. It spares strangers a refused call.
const hint = "dashboard-session";

/** Finds out who is signed in, and keeps the page fresh as long as somebody looks. */
export function start(): void {
  const token = takeLink();
  const find = (): void => void (place.value = location.hash.replace(/^#\/?/, ""));
  addEventListener("hashchange", find);
  find();
  if (token !== "") void follow(token);
  else if (recall(hint) === null) session.value = null;
  else void resume();
  for (const one of watched)
    effect(() => {
      if (session.value) void one.load();
    });
  let nth = 0;
  setInterval(() => {
    if (!session.value || document.visibilityState !== "visible") return;
    nth += 1;
    // Marks are dear to count and keys seldom change.
    for (const one of nth % rarely === 0 ? seen() : [overview, recent, limitRequests])
      void one.load();
  }, refreshMs);
}

/** The token of a link for readers in the page's own address, which it leaves then; empty: none. */
function takeLink(): string {
  const token = /^#link=([\w-]+)$/.exec(location.hash)?.[1] ?? "";
  if (token !== "") history.replaceState(null, "", location.pathname);
  return token;
}

async function follow(token: string): Promise<void> {
  const result = await api.send<DashboardSession>("POST", "/session/link", { token });
  if (result.failure === undefined) enter(result.value);
  else if (result.failure.code === "session-over")
    leave(say("This link is over. Ask the partner for a new one."));
  else leave(result.failure.words);
}

/** Exchanges a key for a session. The key is not kept. */
export async function signIn(key: string): Promise<Failure | null> {
  const result = await api.send<DashboardSession>("POST", "/session", { key });
  if (result.failure !== undefined) return result.failure;
  enter(result.value);
  return null;
}

export async function signOut(): Promise<void> {
  const { failure } = await api.send("DELETE", "/session");
  if (failure === undefined) leave(say("You are signed out."));
  else if (failure.code !== "session-over") parting.value = failure.words;
}

export async function askLimits(
  wish: Pick<ShownLimitRequest, "requested_rpm" | "requested_daily" | "comment">,
): Promise<Failure | null> {
  const { failure } = await api.send("POST", "/limit-requests", wish);
  if (failure === undefined || failure.code === "limit-request-pending") await limitRequests.load();
  return failure ?? null;
}

export async function withdrawLimits(id: number): Promise<Failure | null> {
  const { failure } = await api.send("DELETE", `/limit-requests/${id}`);
  await limitRequests.load();
  return failure ?? null;
}

async function resume(): Promise<void> {
  const result = await api.get<DashboardSession>("/session");
  if (result.failure === undefined) enter(result.value);
  else if (session.value === undefined) leave(result.failure.words);
}

function enter(entered: DashboardSession): void {
  remember(hint, "1");
  parting.value = "";
  session.value = entered;
  for (const one of seen().filter((one) => !watched.includes(one))) void one.load();
}

function leave(words: string): void {
  remember(hint, null);
  for (const one of all) one.clear();
  parting.value = words;
  session.value = null;
}
