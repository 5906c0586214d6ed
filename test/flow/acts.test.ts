import { randomBytes } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { isRefusal } from "#src/contract/refusals.ts";
import { dayMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { boundAddress } from "#src/infrastructure/addresses.ts";
import { changeKey, findKey } from "#src/keys/issued-keys.ts";
import { approveLimitRequest, createLimitRequest } from "#src/limits/limit-requests.ts";
import { firstIdOfDay, partnerReporter } from "#src/marks/marks.ts";
import { reviewMark } from "#src/marks/review-mark.ts";
import { openSession } from "#src/operators/sessions.ts";
import { by } from "#test/harness/by.ts";
import { sized } from "#test/harness/long.ts";
import { runOperator } from "#test/harness/operator.ts";
import { useAccount } from "#test/flow/console-client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { addKey, addPartner, useEdgeOn } from "#test/api/edge.ts";

/** A partner with all that an operator can act on. */
interface Subject {
  partner: number;
  key: number;
  request: number;
  held: number;
  /** A mark that was rejected alone, and a request of another partner that was approved. */
  rejected: number;
  approved: number;
  failed: number;
  alarm: number;
  /** What old data waits for an operator, and what was allowed. */
  waiting: string;
  allowed: string;
  incident: number;
  webhook: number;
  offWebhook: number;
  /** A feed, and a paused one. */
  feed: number;
  pausedFeed: number;
  reporter: number;
  /** A rollback that has taken another mark of the reporter. */
  rollback: number;
  /** The first digits of the hash of the network that the reporter came from. */
  network: string;
  station: string;
  /** What a driver has said of the station, and what was decided of that. */
  suggestion: number;
  decided: number;
  /** Another one, of another name and address than its file's, and closed, all by hand. */
  corrected: string;
  /** A part of the station, and one that may be the same as it. */
  part: string;
  doubtful: string;
}

interface Act {
  name: string;
  typed: (subject: Subject) => (string | number)[];
  sent: (subject: Subject) => [method: string, path: string, body?: object];
}

/** A day within a launch's longest time. */
const soon = new Date(Date.now() + 30 * dayMs).toISOString().slice(0, 10);
/** Stations from this number on are corrected ones. */
const correctedFrom = 180;
/** Who has made the marks. */
const driver = "driver 1";

/** An act of one word, of the subject's `of`: what is typed before its id, and where its id stands in what is posted. */
const ofOne = ([name, typed, path, of]: readonly [string, string, string, keyof Subject]): Act => ({
  name,
  typed: (subject) => [...typed.split(" "), subject[of]],
  sent: (subject) => ["POST", path.replace("#", String(subject[of]))],
});

const done: readonly Act[] = [
  ...(
    [
      ["key.revoke", "key revoke", "/keys/#/revoke", "key"],
      ["limit-request.approve-undo", "limit-request undo", "/limit-requests/#/undo", "approved"],
      ["review.reject-undo", "review undo", "/review/#/undo", "rejected"],
      ["mark.retry", "marks retry", "/failed-marks/#/retry", "failed"],
      ["feed.pause", "feed pause", "/feeds/#/pause", "feed"],
      ["feed.resume", "feed resume", "/feeds/#/resume", "pausedFeed"],
      ["webhook.disable", "webhook disable", "/webhooks/#/disable", "webhook"],
      ["webhook.enable", "webhook enable", "/webhooks/#/enable", "offWebhook"],
      ["marks.rollback-undo", "marks rollback undo", "/rollbacks/#/undo", "rollback"],
      ["suggestion.done", "suggestion done", "/suggestions/#/done", "suggestion"],
      ["suggestion.dismiss", "suggestion dismiss", "/suggestions/#/dismiss", "suggestion"],
      ["suggestion.done-undo", "suggestion undo", "/suggestions/#/undo", "decided"],
      ["station.reopen", "station reopen", "/stations/#/reopen", "corrected"],
      ["station.split", "station split", "/stations/#/split", "part"],
    ] as const
  ).map(ofOne),
  {
    name: "partner.create",
    typed: () => ["partner", "create", "--name", " Maps ", "--rpm", "600"],
    sent: () => ["POST", "/partners", { name: " Maps ", rpm: 600 }],
  },
  {
    name: "partner.update",
    typed: ({ partner }) => [
      ...["partner", "update", partner, "--name", " New ", "--daily", "70"],
      ...["--enabled", "false", "--cache-ttl", "0", "--bind-ips", "false"],
    ],
    sent: ({ partner }) => [
      "PATCH",
      `/partners/${partner}`,
      { name: " New ", daily: 70, enabled: false, cache_ttl_s: 0, bind_ips: false },
    ],
  },
  {
    name: "partner.launch",
    typed: ({ partner }) => [
      ...["partner", "launch", partner, "--until", soon],
      ...["--new-users", "900", "--limit", "70"],
    ],
    sent: ({ partner }) => [
      "POST",
      `/partners/${partner}/launch`,
      { until: Date.parse(soon), new_users: 900, limit: 70 },
    ],
  },
  {
    name: "key.issue",
    typed: ({ partner }) => [
      ...["key", "issue", "--partner", partner, "--kind", "secret", "--label", " server "],
      ...["--ips", "::ffff:10.1.0.0/112,192.0.2.1,192.0.2.1", "--expires", "2199-01-01"],
    ],
    sent: ({ partner }) => [
      "POST",
      "/keys",
      {
        partner_id: partner,
        kind: "secret",
        label: " server ",
        ips: ["::ffff:10.1.0.0/112", "192.0.2.1", "192.0.2.1"],
        expires: Date.UTC(2199, 0),
      },
    ],
  },
  {
    name: "key.update",
    typed: ({ key }) => [
      ...["key", "update", key, "--confirm-min", "3", "--reports", "false"],
      ...["--mass-no-limit", "5", "--expires", "never", "--ips", ""],
    ],
    sent: ({ key }) => [
      "PATCH",
      `/keys/${key}`,
      { confirm_min: 3, reports: false, mass_no_limit: 5, expires: null, ips: [] },
    ],
  },
  {
    name: "key.limit",
    typed: ({ key }) => ["key", "limit", key, "--to", "2", "--until", soon],
    sent: ({ key }) => ["POST", `/keys/${key}/limit`, { to: 2, until: Date.parse(soon) }],
  },
  {
    name: "limit-request.approve",
    typed: ({ request }) => [
      ...["limit-request", "approve", request, "--rpm", "1500", "--comment", " half "],
    ],
    sent: ({ request }) => [
      "POST",
      `/limit-requests/${request}/approve`,
      { rpm: 1500, comment: " half " },
    ],
  },
  {
    name: "limit-request.reject",
    typed: ({ request }) => ["limit-request", "reject", request, "--comment", " use the dump "],
    sent: ({ request }) => [
      "POST",
      `/limit-requests/${request}/reject`,
      { comment: " use the dump " },
    ],
  },
  {
    name: "review.approve",
    typed: ({ held }) => ["review", "approve", held],
    sent: ({ held }) => ["POST", "/review/approve", { ids: [held] }],
  },
  {
    name: "review.reject",
    typed: ({ held }) => ["review", "reject", held],
    sent: ({ held }) => ["POST", "/review/reject", { ids: [held] }],
  },
  {
    name: "review.approve",
    typed: ({ key }) => ["review", "approve", "--key", key, "--status", "no"],
    sent: ({ key }) => ["POST", "/review/groups/approve", { key, status: "no" }],
  },
  {
    name: "review.reject",
    typed: ({ partner }) => ["review", "reject", "--partner", partner, "--since", "2020-01-01"],
    sent: ({ partner }) => ["POST", "/review/groups/reject", { partner, since: Date.UTC(2020, 0) }],
  },
  {
    name: "alarm.acknowledge",
    typed: ({ alarm }) => ["alarm", "acknowledge", alarm],
    sent: ({ alarm }) => ["POST", "/alarms/acknowledge", { ids: [alarm] }],
  },
  {
    name: "retention.allow",
    typed: ({ waiting }) => ["retention", "allow", ...waiting.split(" ")],
    sent: ({ waiting }) => ["POST", "/retention/allow", { step: waiting }],
  },
  {
    name: "feed.add",
    typed: ({ key }) => [
      ...["feed", "add", "--source", "it-mimit", "--every", "12h", "--alarm-after", "2d"],
      ...["--url", `https://a.example/${key}`, "--url", "https://a.example/2"],
      ...["--replace-source", "true"],
    ],
    sent: ({ key }) => [
      "POST",
      "/feeds",
      {
        ...{ source: "it-mimit", every_s: 43_200, alarm_after_s: 172_800, replace_source: true },
        urls: [`https://a.example/${key}`, "https://a.example/2"],
      },
    ],
  },
  {
    name: "feed.run",
    typed: ({ feed }) => ["feed", "run", feed, "--force", "all-no,half"],
    sent: ({ feed }) => ["POST", `/feeds/${feed}/run`, { force: ["all-no", "half"] }],
  },
  {
    name: "feed.remove",
    typed: ({ feed }) => ["feed", "remove", feed],
    sent: ({ feed }) => ["DELETE", `/feeds/${feed}`],
  },
  {
    name: "incident.open",
    typed: () => [
      ...["incident", "open", "--title", "Late dumps", "--title-ru", "Выгрузки опаздывают"],
      ...["--text", "We look into it.", "--feeds", "dumps,delta"],
    ],
    sent: () => [
      "POST",
      "/incidents",
      {
        ...{ title: "Late dumps", title_ru: "Выгрузки опаздывают", text: "We look into it." },
        ...{ text_ru: "", feeds: ["dumps", "delta"] },
      },
    ],
  },
  {
    name: "incident.update",
    typed: ({ incident }) => ["incident", "update", incident, "--text", "A disk is full."],
    sent: ({ incident }) => ["POST", `/incidents/${incident}/update`, { text: "A disk is full." }],
  },
  {
    name: "incident.edit",
    typed: ({ incident }) => ["incident", "edit", incident, "--text", "The disk is full."],
    sent: ({ incident }) => ["PATCH", `/incidents/${incident}`, { text: "The disk is full." }],
  },
  {
    name: "incident.close",
    typed: ({ incident }) => [
      "incident",
      "close",
      incident,
      "--text",
      "Done.",
      "--text-ru",
      "Всё.",
    ],
    sent: ({ incident }) => [
      "POST",
      `/incidents/${incident}/close`,
      { text: "Done.", text_ru: "Всё." },
    ],
  },
  {
    name: "reporter.block",
    typed: ({ reporter }) => ["reporter", "block", reporter, "--until", soon],
    sent: ({ reporter }) => ["POST", `/reporters/${reporter}/block`, { until: Date.parse(soon) }],
  },
  {
    name: "network.block",
    typed: ({ network }) => ["network", "block", network, "--until", soon],
    sent: ({ network }) => ["POST", `/networks/${network}/block`, { until: Date.parse(soon) }],
  },
  {
    name: "marks.rollback",
    typed: ({ reporter, station }) => [
      ...["marks", "rollback", "--reporter", reporter, "--station", station],
      ...["--status", "no", "--since", "2020-01-01", "--city", "Тестоград", "--remote", "false"],
      ...["--first-seen-since", "2020-01-02", "--first-seen-until", "2199-01-01"],
    ],
    sent: ({ reporter, station }) => [
      "POST",
      "/rollback",
      {
        reporter,
        station,
        status: "no",
        since: Date.UTC(2020, 0),
        city: "Тестоград",
        remote: false,
        first_seen_since: Date.UTC(2020, 0, 2),
        first_seen_until: Date.UTC(2199, 0),
      },
    ],
  },
  {
    name: "station.add",
    typed: () => ["station", "add", "--name", " New  one ", "--lat", "-55.5", "--lon", "37.25"],
    sent: () => ["POST", "/stations", { name: " New  one ", lat: -55.5, lon: 37.25 }],
  },
  {
    name: "station.edit",
    typed: ({ station }) => [
      ...["station", "edit", station, "--name", " New  name ", "--brand", ""],
      ...["--lat", "-55.5", "--lon", "37.25"],
    ],
    sent: ({ station }) => [
      "PATCH",
      `/stations/${station}`,
      { name: " New  name ", brand: "", position: { lat: -55.5, lon: 37.25 } },
    ],
  },
  {
    name: "station.edit",
    typed: ({ corrected }) => ["station", "edit", corrected, "--from-file", "address", "name"],
    sent: ({ corrected }) => ["PATCH", `/stations/${corrected}`, { from_file: ["addr", "name"] }],
  },
  {
    name: "station.close",
    typed: ({ station }) => ["station", "close", station, "--comment", " demolished "],
    sent: ({ station }) => ["POST", `/stations/${station}/close`, { comment: " demolished " }],
  },
  {
    name: "station.merge",
    typed: ({ station }) => ["station", "merge", station, placeOf(0).id],
    sent: ({ station }) => ["POST", `/stations/${station}/merge`, { other: placeOf(0).id }],
  },
  {
    name: "station.keep-apart",
    typed: ({ doubtful, station }) => ["station", "keep-apart", doubtful, station],
    sent: ({ doubtful, station }) => [
      "POST",
      `/stations/${doubtful}/keep-apart`,
      { other: station },
    ],
  },
  {
    name: "brand.alias",
    typed: ({ station }) => ["brand", "alias", `Знак ${station}`, "--brand", " Полюс "],
    sent: ({ station }) => [
      "POST",
      `/brands/${encodeURIComponent(`Знак ${station}`)}/alias`,
      { brand: " Полюс " },
    ],
  },
  {
    name: "brand.unalias",
    typed: ({ station }) => ["brand", "unalias", `«Марка» ${station}`],
    sent: ({ station }) => ["DELETE", `/brands/${encodeURIComponent(`«Марка» ${station}`)}/alias`],
  },
  {
    name: "reporter.erase",
    typed: ({ partner }) => ["reporter", "erase", "--partner", partner, "--user-ref", driver],
    sent: ({ partner }) => ["POST", "/reporters/erase", { partner, user_ref: driver }],
  },
];

const refused: readonly Act[] = [
  ...(
    [
      ["deciding a suggestion twice", "suggestion done", "/suggestions/#/done", "decided"],
      ["opening an open suggestion", "suggestion undo", "/suggestions/#/undo", "suggestion"],
      ["reopening an open station", "station reopen", "/stations/#/reopen", "station"],
      ["splitting what is no part", "station split", "/stations/#/split", "station"],
      ["taking back what nobody has decided", "review undo", "/review/#/undo", "held"],
      ["reopening a pending request", "limit-request undo", "/limit-requests/#/undo", "request"],
      ["pausing a paused feed", "feed pause", "/feeds/#/pause", "pausedFeed"],
      ["resuming a feed that runs", "feed resume", "/feeds/#/resume", "feed"],
    ] as const
  ).map(ofOne),
  {
    name: "a deletion that waits for nobody",
    typed: () => ["retention", "allow", "opinions"],
    sent: () => ["POST", "/retention/allow", { step: "opinions" }],
  },
  {
    name: "a deletion that was allowed",
    typed: ({ allowed }) => ["retention", "allow", allowed],
    sent: ({ allowed }) => ["POST", "/retention/allow", { step: allowed }],
  },
  ...(
    [
      ["a domain for a secret key", ["--domains", "a.example"], { domains: ["a.example"] }],
      ["an address that is none", ["--ips", "10.0.0.0/33"], { ips: ["10.0.0.0/33"] }],
      ["a threshold of two", ["--confirm-min", "2"], { confirm_min: 2 }],
      ["an end in the past", ["--expires", "2020-01-01"], { expires: Date.UTC(2020, 0) }],
      ["a label of two lines", ["--label", "a\nb"], { label: "a\nb" }],
      ["a limit of none", ["--mass-no-limit", "0"], { mass_no_limit: 0 }],
    ] as const
  ).map(([name, typed, body]): Act => ({
    name,
    typed: ({ key }) => ["key", "update", key, ...typed],
    sent: ({ key }) => ["PATCH", `/keys/${key}`, body],
  })),
  {
    name: "a key for all websites below com",
    typed: ({ partner }) => [
      ...["key", "issue", "--partner", partner, "--kind", "publishable", "--domains", "com"],
    ],
    sent: ({ partner }) => [
      "POST",
      "/keys",
      { partner_id: partner, kind: "publishable", domains: ["com"] },
    ],
  },
  {
    name: "a partner without a name",
    typed: ({ partner }) => ["partner", "update", partner, "--name", " "],
    sent: ({ partner }) => ["PATCH", `/partners/${partner}`, { name: " " }],
  },
  ...(
    [
      ["a name of two lines", ["--name", "a\nb"], { name: "a\nb" }],
      ["a brand of 81 letters", ["--brand", "x".repeat(81)], { brand: "x".repeat(81) }],
      ["a place beyond the pole", ["--lat", "91", "--lon", "0"], { position: { lat: 91, lon: 0 } }],
      ["a place at 0, 0", ["--lat", "0", "--lon", "0"], { position: { lat: 0, lon: 0 } }],
      ["half a place", ["--lat", "5"], { position: { lat: 5 } }],
      ["what it is already", ["--brand", "Brand"], { brand: "Brand" }],
      ["the file's value twice", ["--from-file", "name"], { from_file: ["name"] }],
      ["a field that is none", ["--from-file", "source"], { from_file: ["source"] }],
      ["nothing", [], {}],
    ] as const
  ).map(([name, typed, body]): Act => ({
    name: `setting a station to ${name}`,
    typed: ({ station }) => ["station", "edit", station, ...typed],
    sent: ({ station }) => ["PATCH", `/stations/${station}`, body],
  })),
  {
    name: "setting a field and giving it back at once",
    typed: ({ corrected }) => [
      ...["station", "edit", corrected, "--name", "X", "--from-file", "name"],
    ],
    sent: ({ corrected }) => [
      "PATCH",
      `/stations/${corrected}`,
      { name: "X", from_file: ["name"] },
    ],
  },
  {
    name: "adding a station without a name",
    typed: () => ["station", "add", "--name", " ", "--lat", "5", "--lon", "5"],
    sent: () => ["POST", "/stations", { name: " ", lat: 5, lon: 5 }],
  },
  {
    name: "closing a station twice",
    typed: ({ corrected }) => ["station", "close", corrected],
    sent: ({ corrected }) => ["POST", `/stations/${corrected}/close`, {}],
  },
  {
    name: "merging a station with one that is a part already",
    typed: ({ doubtful, part }) => ["station", "merge", doubtful, part],
    sent: ({ doubtful, part }) => ["POST", `/stations/${doubtful}/merge`, { other: part }],
  },
  {
    name: "closing a station that does not exist",
    typed: () => ["station", "close", "nowhere"],
    sent: () => ["POST", "/stations/nowhere/close", {}],
  },
  ...(
    [
      ["without a letter", "№ 5", "Полюс"],
      ["to a brand without a letter", "Знак", "АЗС"],
      ["to a brand of two lines", "Знак", "a\nb"],
      ["to an alias", "Знак", "Марка n1"],
      ["that it has already", "Марка n1", "Полюс"],
      ["from the brand of another alias", "Полюс", "Кедр"],
    ] as const
  ).map(([name, spelling, brand]): Act => ({
    name: `an alias ${name}`,
    typed: () => ["brand", "alias", spelling, "--brand", brand],
    sent: () => ["POST", `/brands/${encodeURIComponent(spelling)}/alias`, { brand }],
  })),
  {
    name: "taking away an alias that is none",
    typed: () => ["brand", "unalias", "agip/eni"],
    sent: () => ["DELETE", "/brands/agip%2Feni/alias"],
  },
  {
    name: "a launch that is over",
    typed: ({ partner }) => ["partner", "launch", partner, "--until", "2020-01-01"],
    sent: ({ partner }) => [
      "POST",
      `/partners/${partner}/launch`,
      { until: Date.UTC(2020, 0), new_users: 10, limit: 10 },
    ],
  },
  {
    name: "an incident without a text",
    typed: () => ["incident", "open", "--title", "Late dumps", "--text", " "],
    sent: () => ["POST", "/incidents", { title: "Late dumps", text: " " }],
  },
  {
    name: "an incident of something that there is not",
    typed: () => ["incident", "open", "--title", "A", "--text", "b", "--feeds", "weather"],
    sent: () => ["POST", "/incidents", { title: "A", text: "b", feeds: ["weather"] }],
  },
  {
    name: "closing an incident that there is not",
    typed: () => ["incident", "close", 999_999, "--text", "Done."],
    sent: () => ["POST", "/incidents/999999/close", { text: "Done." }],
  },
  {
    name: "erasing a user of no partner",
    typed: () => ["reporter", "erase", "--partner", 999_999, "--user-ref", driver],
    sent: () => ["POST", "/reporters/erase", { partner: 999_999, user_ref: driver }],
  },
  {
    name: "a feed of no known source",
    typed: () => ["feed", "add", "--source", "nowhere", "--every", "1h"],
    sent: () => ["POST", "/feeds", { source: "nowhere", every_s: 3600 }],
  },
  {
    name: "erasing nobody",
    typed: () => ["reporter", "erase"],
    sent: () => ["POST", "/reporters/erase", {}],
  },
  {
    name: "a limit of a key that is over",
    typed: ({ key }) => ["key", "limit", key, "--until", "2020-01-01"],
    sent: ({ key }) => ["POST", `/keys/${key}/limit`, { to: 1, until: Date.UTC(2020, 0) }],
  },
  {
    name: "approving everything",
    typed: () => ["review", "approve"],
    sent: () => ["POST", "/review/groups/approve", {}],
  },
  {
    name: "a rollback of everything",
    typed: () => ["marks", "rollback", "--status", "no"],
    sent: () => ["POST", "/rollback", { status: "no" }],
  },
];

describe("flow: an operator's act, from the command line and from the console", function () {
  const { instance, country } = useStage(2 * correctedFrom, [], {
    LOG_LEVEL: "silent",
    MASS_NO_LIMIT: "33",
  });
  const edge = useEdgeOn(instance);
  const olga = useAccount(country, () => edge.origin);
  let subjects = 0;

  const addSubject = async (): Promise<Subject> => {
    const { db } = country;
    const n = (subjects += 1);
    const station = placeOf(n).id;
    const corrected = placeOf(correctedFrom + n).id;
    await rows(db, "update stations set removed_at = server_now() where id = ?", [corrected]);
    await rows(
      db,
      `insert into station_edits (station_id, file_name, file_addr, in_service)
       values (?, 'Of the file', 'Street 2', false)`,
      [corrected],
    );
    await rows(
      db,
      `insert into brand_aliases (key, spelling, brand)
       select 'марка' || id, 'Марка ' || id, 'Полюс' from unnest(?::text[]) as s(id)
       on conflict (key) do nothing`,
      [[station, "n1"]],
    );
    const [part, doubtful] = [`n${50_000 + n}`, `n${60_000 + n}`];
    await rows(
      db,
      `insert into stations (id, source, lat, lon, removed_at)
       values (?, 'test', 10, 10, server_now()), (?, 'test', 10, 10, null)`,
      [part, doubtful],
    );
    await rows(
      db,
      `insert into station_pairs (station_id, into_id, verdict, actor)
       values (?, ?, 'joined', 'import'), (?, ?, 'doubtful', 'import')`,
      [part, station, doubtful, station],
    );
    const limits = { rpm: 1000, daily: 5000 };
    const partner = await addPartner(db, { name: "Subject", ...limits });
    await addKey(db, partner, "secret", { ips: ["192.0.2.9"] });
    const [{ id: key }] = (await db("keys").where({ partner_id: partner }).select("id")) as [
      { id: number },
    ];
    const now = Date.now();
    const session = { kind: "key", subjectId: key, address: "::1", agent: "" } as const;
    await openSession(db, { ...session, now, lifeMs: 60_000 });
    const wish = { partner_id: partner, requested_rpm: 2000, requested_daily: 9000, comment: "" };
    const request = await createLimitRequest(db, wish);
    const asking = await addPartner(db, { name: "Asking", ...limits });
    const granted = await createLimitRequest(db, { ...wish, partner_id: asking });
    await approveLimitRequest(by(db, "test"), {}, granted!.id);
    const viewer = randomBytes(32);
    const [reporter] = await rows<{ id: number }>(
      db,
      "insert into reporters (hash, first_seen, viewer) values (decode(?, 'hex'), server_now(), ?) returning id",
      [partnerReporter(instance.config.reporterPepper, partner, driver), viewer],
    );
    await rows(
      db,
      "insert into station_status (station_id) values (?) on conflict (station_id) do nothing",
      [station],
    );
    const [held, failed, gone, rejected] = [1, 2, 3, 4].map(
      (which) => firstIdOfDay(now) + 1e6 + 4 * n + which,
    );
    await rows(
      db,
      `insert into marks (id, station_id, reporter_id, partner_id, key_id, source, status, received_at, effective_at,
         lat, lon, comment, remote, needed, rule, review, processed_at, outcome, failed_at, failure)
       select v.id, ?, ?, ?, ?, 'partner', v.status, server_now(), server_now(), 55, 37, 'a word', false, 1, 'geolocated', v.review,
         case when v.review = 'held' then server_now() end, case when v.review = 'held' then 'held' end,
         case when v.review = 'none' then server_now() end, case when v.review = 'none' then 'broken' end
       from (values (?::bigint, 'no', 'held'), (?::bigint, 'no', 'none'), (?::bigint, 'no', 'withdrawn'), (?::bigint, 'queue', 'held'))
         as v(id, status, review)`,
      [station, reporter!.id, partner, key, held, failed, gone, rejected],
    );
    await reviewMark.reject(by(db, "test"), {}, rejected!);
    const [batch] = await rows<{ id: number }>(
      db,
      `insert into mark_batches (act, actor, selection, stations, marks, finished_at)
       values ('rollback', 'test', jsonb_build_object('test', ?::int), 1, 1, server_now()) returning id`,
      [n],
    );
    await rows(
      db,
      `insert into mark_batch_marks (batch_id, mark_id, station_id, review, needed, rule)
       values (?, ?, ?, 'none', 1, 'geolocated')`,
      [batch!.id, gone, station],
    );
    const [alarm] = await rows<{ id: number }>(
      db,
      `insert into alarms (kind, subject, city, hour)
       values ('marks-held', 'partner', 'city', timestamptz 'epoch' + ?::int * interval '1 hour') returning id`,
      [n],
    );
    const [waiting, allowed] = [`of subject ${n}`, `allowed of ${n}`];
    await rows(
      db,
      `insert into retention_steps (step, asked_at, count, oldest, kept_from, allowed_at)
       values (?, server_now(), 7, 'epoch', 'epoch', null), (?, server_now(), 7, 'epoch', 'epoch', server_now())`,
      [waiting, allowed],
    );
    const [incident] = await rows<{ id: number }>(
      db,
      `with made as (insert into incidents (title, feeds) values ('Test', '{}') returning id)
       insert into incident_updates (incident_id, text) select id, 'Known' from made returning incident_id as id`,
    );
    const [webhook, offWebhook] = await rows<{ id: number }>(
      db,
      `insert into webhook_endpoints (partner_id, url, events, secret, off_at, off_reason)
       values (?, 'https://a.example', '{key.expiring}', '', null, null),
         (?, 'https://b.example', '{key.expiring}', '', server_now(), 'gone') returning id`,
      [partner, partner],
    );
    const [feed, pausedFeed] = await rows<{ id: number }>(
      db,
      `insert into feeds (source, files, every_s, alarm_after_s, replace_source, due_at, paused_at)
       values ('it-mimit', '{a}', 60, 60, false, 'infinity', null),
         ('it-mimit', '{b}', 60, 60, false, 'infinity', server_now()) returning id`,
    );
    await rows(db, "delete from changes where station_id like 'hand-%'");
    await rows(db, "delete from stations where source = 'hand'");
    const [suggestion, decided] = await rows<{ id: number }>(
      db,
      `insert into station_suggestions (kind, subject, station_id, text, reporter, viewer, verdict)
       values ('gone', ?, ?, 'a word', '', '', null), ('closed', ?, ?, '', '', '', 'done') returning id`,
      [station, station, station, station],
    );
    await rows(db, "update station_suggestions set decided_with = id where id = ?", [decided!.id]);
    return {
      ...{ suggestion: suggestion!.id, decided: decided!.id },
      ...{ feed: feed!.id, pausedFeed: pausedFeed!.id },
      ...{ partner, key, request: request!.id, alarm: alarm!.id, station, corrected },
      ...{ part, doubtful },
      incident: incident!.id,
      ...{ waiting, allowed, webhook: webhook!.id, offWebhook: offWebhook!.id },
      ...{ rejected: rejected!, approved: granted!.id },
      ...{ held: held!, failed: failed!, reporter: reporter!.id, rollback: batch!.id },
      network: viewer.toString("hex").slice(0, 8),
    };
  };

  /** Sends an act through one door; whether it was done. */
  const doors: readonly ((act: Act, subject: Subject) => Promise<boolean>)[] = [
    async ({ typed }, subject) => {
      const args = [...typed(subject).map(String), "--json", "--actor", "olga"];
      return (await runOperator(instance.env, ...args)).code === 0;
    },
    async ({ sent }, subject) => (await olga.call(...sent(subject))).status < 300,
  ];

  const logged = (): Promise<Record<string, unknown>[]> =>
    rows(
      country.db,
      `select actor, action, regexp_replace(subject, ' (n|hand-|)[0-9a-f]+$', ' #') as subject,
         details - '{id,key,partner,prefix,station,reporter,files,into,from,other}'::text[]
           #- '{before,name}' #- '{before,position}' as details,
         jsonb_typeof(details -> 'reporter') as reporter
       from operator_log where action <> 'console.sign-in' order by id`,
    );

  /** All rows of a subject, and those of partners made after it, without what differs from row to row. */
  const rowsOf = async (subject: Subject): Promise<unknown> => {
    const { partner, key, reporter, network, alarm, station, rollback, corrected, incident } =
      subject;
    const [found] = await rows<{ found: object }>(
      country.db,
      `select jsonb_build_object(
         'partners', (select jsonb_agg(to_jsonb(p) order by id) from partners p where id >= ?),
         'keys', (select jsonb_agg(to_jsonb(k) - 'prefix' order by id) from keys k where partner_id >= ?),
         'sessions', (select jsonb_agg(ended_at is not null) from sessions where kind = 'key' and subject_id = ?),
         'requests', (select jsonb_agg(to_jsonb(r) order by id) from limit_requests r where partner_id >= ?),
         'blocks', (select jsonb_agg(r.blocked_until) from reporters r where id = ?),
         'networks', (select jsonb_agg(b.until) from network_blocks b where encode(viewer, 'hex') like ?),
         'webhooks', (select jsonb_agg(to_jsonb(w) order by id) from webhook_endpoints w where partner_id = ?),
         'retention', (select to_jsonb(r) - 'step' from retention_steps r where step = ?),
         'alarm', (select to_jsonb(a) - 'hour' from alarms a where id = ?),
         'incidents', (select jsonb_agg(to_jsonb(i) || jsonb_build_object('updates', (
             select jsonb_agg(to_jsonb(u) - 'at' order by id) from incident_updates u where incident_id = i.id)) order by id)
           from incidents i where id >= ?),
         'feeds', (select jsonb_agg(to_jsonb(f) - 'files' || jsonb_build_object('due', due_at <= server_now()) order by id)
           from feeds f where id >= ?),
         'batches', (select jsonb_agg(to_jsonb(b) - 'selection' order by id) from mark_batches b where id >= ?),
         'marks', (select jsonb_agg(to_jsonb(m) order by id) from marks m where partner_id = ?),
         'stations', (select jsonb_agg(to_jsonb(s)) from station_status s where station_id = ?),
         'places', (select jsonb_agg(to_jsonb(s) - 'updated_at'
             || jsonb_build_object('lat', case when abs(lat - 55 - (substr(id, 2)::int - 1000) * 0.0027) > 1e-9 then lat end,
               'name', nullif(name, 'Station ' || id)) order by id)
           from stations s where id in (?, ?)),
         'added', (select jsonb_agg(to_jsonb(s) - 'updated_at') from stations s where source = 'hand'),
         'suggestions', (select jsonb_agg(verdict order by id) from station_suggestions where station_id = ?),
         'edits', (select jsonb_agg(to_jsonb(e) - 'file_lat'
             || jsonb_build_object('file_name', replace(file_name, station_id, '')) order by station_id)
           from station_edits e where station_id in (?, ?)),
         'pairs', (select jsonb_agg(jsonb_build_object('verdict', verdict, 'actor', actor, 'moving', moving) order by station_id)
           from station_pairs where ? in (station_id, into_id)),
         'aliases', (select jsonb_agg(to_jsonb(a) - 'key' - 'spelling' order by key)
           from brand_aliases a where key like '%' || ?),
         'feed', (select jsonb_agg(removed order by station_id) from changes where station_id in (?, ?))) as found`,
      [
        ...[partner, partner, key, partner, reporter, `${network}%`, partner],
        ...[subject.waiting, alarm],
        ...[incident, subject.feed, rollback],
        ...[partner, station, station, corrected, station, station, corrected, station, station],
        ...[station, corrected],
      ],
    );
    return JSON.parse(
      JSON.stringify(found!.found, (name, value: unknown) => {
        if (name === "id" || name === "hash" || name.endsWith("_id")) return undefined;
        const isTime = name.endsWith("_at") || name === "refold_from";
        if (isTime && name !== "expires_at") return value === null ? null : "set";
        return value;
      }),
    );
  };

  for (const act of done) {
    it(`${act.name} leaves the same rows and the same entry in the log`, async () => {
      const left: { rows: unknown; entries: unknown[] }[] = [];
      for (const door of doors) {
        const subject = await addSubject();
        const [before, earlier] = [await rowsOf(subject), await logged()];
        expect(await door(act, subject), act.name).to.equal(true);
        const after = await rowsOf(subject);
        expect(after).to.not.deep.equal(before);
        left.push({ rows: after, entries: (await logged()).slice(earlier.length) });
      }
      expect(left[0]!.entries).to.have.length(1);
      expect(left[0]!.entries[0]).to.include({ actor: "olga", action: act.name });
      expect(left[1]).to.deep.equal(left[0]);
    });
  }

  describe("refused", () => {
    // One for all of them: nothing of it changes.
    let subject: Subject;
    let before: unknown;
    const found = async (): Promise<unknown> => [await rowsOf(subject), await logged()];
    for (const act of refused) {
      it(`${act.name} is refused, and nothing is left of it`, async () => {
        subject ??= await addSubject();
        before ??= await found();
        for (const door of doors) expect(await door(act, subject)).to.equal(false);
        expect(await found()).to.deep.equal(before);
      });
    }
  });

  it("key.revoke ends the sessions that were opened with the key, whoever revokes it", async () => {
    const revoke = done.find(({ name }) => name === "key.revoke")!;
    for (const door of doors) {
      const subject = await addSubject();
      expect(await rowsOf(subject)).to.deep.include({ sessions: [false] });
      await door(revoke, subject);
      expect(await rowsOf(subject)).to.deep.include({ sessions: [true] });
      expect(await door(revoke, subject)).to.equal(false);
    }
  });

  it("key.update stores each address once in its own form, or changes nothing", async () => {
    const { key } = await addSubject();
    const entry = fc.constantFrom(
      "10.0.0.0/8",
      "::1",
      "::FFFF:1.2.3.4",
      "1.2.3.4",
      "x",
      "1.2.3.4/33",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 4 }), async (ips) => {
        const before = (await findKey(country.db, key))!.ips;
        const changed = await changeKey(by(country.db, "olga"), { ips }, key);
        const after = (await findKey(country.db, key))!.ips;
        const read = ips.map(boundAddress);
        if (read.includes(null)) {
          expect(changed).to.have.nested.property("detail[0].loc[1]", "ips");
          expect(after).to.deep.equal(before);
        } else {
          expect(isRefusal(changed)).to.equal(false);
          expect(after).to.deep.equal([...new Set(read)]);
        }
      }),
      { numRuns: sized(20, 40) },
    );
  });
});
