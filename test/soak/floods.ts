import { Agent, request } from "node:http";
import { connect } from "node:net";
import type { Random } from "#demo/country/random.ts";
import type { Violation } from "#test/fault/history.ts";
import { signIn } from "#test/flow/console-client.ts";
import { placeOf } from "#test/flow/country.ts";
import type { Fault } from "#test/soak/faults.ts";
import { type Member, type SoakStage, soakStations } from "#test/soak/stage.ts";

/** What a flood comes upon. */
export type Flooded = Pick<SoakStage, "country" | "limited" | "credentials"> & {
  webs: readonly Pick<Member, "name" | "process">[];
};

/** What one caller sends. */
interface Call {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

const floodPerSecond = 150;
const atOnce = 16;
const tickMs = 50;
const patienceMs = 10_000;

/** Sends calls to a web process until it is ended, whatever is answered. */
function startFlood(baseUrl: string, next: () => Call, perSecond = floodPerSecond) {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const statuses: Record<string, number> = {};
  let waiting = 0;
  const send = ({ method = "GET", path, headers = {}, body }: Call): void => {
    waiting += 1;
    const note = (status: number): void => {
      statuses[status] = (statuses[status] ?? 0) + 1;
    };
    const json = body === undefined ? {} : { "Content-Type": "application/json" };
    const all = { "Accept-Encoding": "gzip", ...json, ...headers };
    const call = request(`${baseUrl}${path}`, { agent, method, headers: all }, (response) => {
      note(response.statusCode ?? 0);
      response.on("error", () => undefined).resume();
    });
    call.setTimeout(patienceMs, () => call.destroy());
    call.once("close", () => (waiting -= 1)).on("error", () => note(0));
    call.end(body === undefined ? undefined : JSON.stringify(body));
  };
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * perSecond;
    for (; sent < due; sent += 1) if (waiting < atOnce) send(next());
  }, tickMs);
  return {
    statuses,
    end: (): void => {
      clearInterval(timer);
      agent.destroy();
    },
  };
}

/** Somebody's flood at one web process, or all of them. */
const floodOf =
  (who: string, callsOf: (stage: Flooded, random: Random) => () => Call, perSecond?: number) =>
  (stage: Flooded, random: Random): Fault => {
    const hit = random.chance(0.5) ? stage.webs : [random.pick(stage.webs)];
    const each = (perSecond ?? floodPerSecond) / hit.length;
    const next = callsOf(stage, random);
    const floods = hit.map((web) => startFlood(web.process().baseUrl, next, each));
    const at = hit.length > 1 ? "all web processes" : hit[0]!.name;
    return {
      kind: `flood: ${who}`,
      what: `${who} at ${at}`,
      sparesOthers: true,
      tell: () => floods.map(({ statuses }) => JSON.stringify(statuses)).join(" "),
      end: () => floods.forEach(({ end }) => end()),
    };
  };

const network = (random: Random): string =>
  `${random.int(11, 99)}.${random.int(0, 255)}.${random.int(0, 255)}.${random.int(1, 254)}`;
const from = (address: string): Record<string, string> => ({ "X-Forwarded-For": address });
const bearer = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });
const apiPath = "/api/v1/partner";

/** A rectangle that hardly anybody asks for twice. */
const someBox = (random: Random): string => {
  const { lat } = placeOf(random.int(0, soakStations - 1));
  const [half, east] = [0.01 * random.int(1, 40), 0.01 * random.int(1, 90)];
  return [lat - half, 37 - east, lat + half, 37 + east].map((side) => side.toFixed(2)).join(",");
};

/** Without a key, from one network: pages that are made anew for each caller. */
export const floodPages = floodOf("a stranger hammers pages", (_, random) => {
  const headers = from(network(random));
  const days = () => random.int(1, 90);
  return () => ({
    headers,
    path: random.weighted([
      [`/overview?days=${days()}`, 4],
      [`/overview?all=1&days=${days()}&page=${random.int(1, 9)}`, 4],
      [`/list?lat=55&lon=${random.int(30, 44)}`, 2],
      ["/status", 1],
      ["/api/v1/partner/openapi.json", 1],
      [`/nothing-${random.int(0, 1e6)}`, 1],
    ]),
  });
});

/** Each attempt costs a hash, whoever is named. */
const floodSignIns = floodOf(
  "strangers hammer the sign-in",
  (_, random) => () => ({
    method: "POST",
    path: "/console/api/session",
    headers: { ...from(network(random)), "Sec-Fetch-Site": "same-origin" },
    body: { name: `nobody ${random.int(0, 1e6)}`, password: "a wrong password" },
  }),
  30,
);

const signInMostMs = 5000;

export const floodSignIn = async (stage: Flooded, random: Random): Promise<Fault> => {
  const { baseUrl } = random.pick(stage.webs).process();
  const known = await signIn(baseUrl, stage.credentials.name).catch(() => null);
  const flood = floodSignIns(stage, random);
  const look = async (): Promise<Violation[]> => {
    if (known === null) return [];
    const startedAt = performance.now();
    const { status } = await known.post("/session", stage.credentials);
    const ms = Math.round(performance.now() - startedAt);
    if (status === 201 && ms < signInMostMs) return [];
    return [{ invariant: "the operator signs in meanwhile", evidence: { status, ms } }];
  };
  return { ...flood, look };
};

/** Reads and marks of a partner with usual limits, thirty times too many. */
export const floodPartner = floodOf("a partner far beyond its limits", ({ limited }, random) => {
  const headers = bearer(limited.secret);
  let marks = 0;
  const mark = (old: boolean): Call => {
    const { id, lat, lon } = placeOf(random.int(0, soakStations - 1));
    const body = {
      ...{ user_ref: `flood-${(marks += 1)}`, lat, lon, status: "no" },
      // Those of a day ago meet no cap.
      ...(old ? { observed_at: new Date(Date.now() - 90_000_000).toISOString() } : {}),
    };
    return { method: "POST", path: `${apiPath}/stations/${id}/report`, headers, body };
  };
  const read = (path: string): Call => ({ path: `${apiPath}${path}`, headers });
  return () =>
    random.weighted<() => Call>([
      [() => read("/stations/all"), 2],
      [() => read("/stations/all.csv"), 2],
      [() => read(`/stations.geojson?bbox=${someBox(random)}`), 2],
      [() => read(`/stations/nothing-${random.int(0, 1e6)}`), 2],
      [() => mark(false), 1],
      [() => mark(true), 1],
    ])();
});

/** The map's own key, which everybody can read, from many networks. */
export const floodMap = floodOf("strangers with the map's key", ({ country }, random) => () => ({
  path: `${apiPath}/stations?bbox=${someBox(random)}`,
  headers: { ...bearer(country.publishable), ...from(network(random)) },
}));

/** More answers on each connection than the system keeps for it. */
const unread = { connections: 40, answers: 64 };

/** Connections that ask for the whole country again and again, and read nothing. */
export const leaveUnread = (
  stage: Flooded,
  random: Random,
  { connections, answers } = unread,
): Fault => {
  const web = random.pick(stage.webs);
  const port = Number(new URL(web.process().baseUrl).port);
  const key = random.pick([stage.country.secret, stage.country.publishable]);
  const ask = (n: number): string =>
    `GET ${apiPath}/stations.geojson?bbox=54,36,${56 + n / 100},38 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const sockets = Array.from({ length: connections }, (_, n) => {
    const socket = connect(port, "127.0.0.1");
    socket.pause();
    socket.on("error", () => undefined);
    socket.write(ask(n).repeat(answers));
    return socket;
  });
  return {
    kind: "unread answers",
    what: `${connections} connections to ${web.name} read nothing`,
    sparesOthers: true,
    mayRefuse: true,
    end: () => sockets.forEach((socket) => socket.destroy()),
  };
};
