import type { ComponentChildren } from "preact";
import { say } from "#web/console/words.ts";
import { Moment } from "#web/kit/time.tsx";
import { number } from "#web/kit/numbers.ts";
import { language } from "#web/kit/words.ts";

/** Names of what an act changes or is about; those of other fields are shown as they are stored. */
const names: Readonly<Record<string, string>> = {
  ...{
    actor: say("Actor"),
    addr: say("Address"),
    before: say("before"),
    brand: say("Brand"),
    city: say("City"),
  },
  ...{ comment: say("Comment"), daily: say("Requests per day"), enabled: say("Access is on") },
  ...{ domains: say("domains"), every_s: say("every, s"), feeds: say("feeds"), file: say("file") },
  ...{ expires_at: say("Expires"), files: say("files"), from: say("From"), into: say("into") },
  ...{ grades_sold: say("Grades sold"), in_service: say("in service"), ips: say("addresses") },
  ...{ from_file: say("from the imports"), key: say("Key"), kind: say("Kind"), label: say("note") },
  ...{ launch_limit: say("limit"), launch_new_users: say("new users in a day") },
  ...{ launch_until: say("until"), limited_to: say("limited to"), limited_until: say("until") },
  ...{ marks: say("Marks"), name: say("Name"), network: say("network"), other: say("other") },
  ...{
    opening_hours: say("Opening hours"),
    partner: say("Partner"),
    people: say("drivers"),
    position: say("Position"),
  },
  ...{ prefix: say("prefix"), reason: say("reason"), replaces: say("replaces") },
  ...{ reporter: say("Reporter"), reports: say("May send marks"), rpm: say("Requests per minute") },
  ...{ since: say("since"), source: say("source"), station: say("Station") },
  ...{ stations: say("Stations"), status: say("Status"), text: say("text"), title: say("title") },
  ...{ until: say("until"), remote: say("not at the station"), changed: say("changed") },
  ...{ first_seen_since: say("first seen since"), first_seen_until: say("first seen until") },
};

type Values = Record<string, unknown>;
const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** `2026-11-26T10:00:00.000Z`, or the service's own `2026-11-26 10:00:00`, in UTC. */
const timeText = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?Z?$/;
const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (isValues(value) && isBare(value));
const isBare = (values: Values): boolean => Object.values(values).every(isEmpty);

/** The details of an entry of the operator's log in words, with what was before and after. */
export function LogFacts({
  of: { before, after, id: _id, part: _part, ...others },
}: {
  of: Values;
}) {
  const changes =
    isValues(before) && isValues(after)
      ? Object.keys(after).map((field) => [
          field,
          <>
            <del>{said(before[field])}</del> → <ins>{said(after[field])}</ins>
          </>,
        ])
      : [];
  const facts = [
    ...changes,
    ...(changes.length === 0 ? Object.entries({ before, after }) : [])
      .filter(([, value]) => !isEmpty(value))
      .map(([field, value]) => [field, said(value)]),
    ...Object.entries(others)
      .filter(([, value]) => !isEmpty(value))
      .map(([field, value]) => [field, said(value)]),
  ] as [string, ComponentChildren][];
  if (facts.length === 0) return null;
  return (
    <ul class="log-facts">
      {facts.map(([field, value]) => (
        <li key={field}>
          <span class="soft">{names[field] ?? field.replaceAll("_", " ")}:</span> {value}
        </li>
      ))}
    </ul>
  );
}

function said(value: unknown): ComponentChildren {
  if (isEmpty(value)) return say("none");
  if (value === true) return say("true");
  if (value === false) return say("no");
  if (typeof value === "number") return number(value);
  if (Array.isArray(value))
    return value.length === 0 ? say("none") : value.map((one) => textOf(one)).join(", ");
  const [, day, time] = timeText.exec(String(value)) ?? [];
  if (day !== undefined) return <Moment at={Date.parse(`${day}T${time}Z`)} />;
  return textOf(value);
}

/** To a metre. */
const degrees = (value: unknown): string => String(Number(Number(value).toFixed(5)));

/** A text in both languages as its reader's; a place as its coordinates; other values by their names. */
function textOf(value: unknown): string {
  if (!isValues(value)) return String(value);
  const { en, ru, lat, lon, ...others } = value;
  if (typeof en === "string")
    return language === "ru" && typeof ru === "string" && ru !== "" ? ru : en;
  if (lat !== undefined && lon !== undefined) return `${degrees(lat)}, ${degrees(lon)}`;
  return Object.entries(others)
    .map(([name, one]) => `${names[name] ?? name.replaceAll("_", " ")} ${textOf(one)}`)
    .join(", ");
}
