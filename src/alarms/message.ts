import { type AlarmKind, kindNamed } from "#src/contract/alarm-kinds.ts";
import type { AlarmRow } from "#src/alarms/alarms.ts";
import { formatTime } from "#src/domain/time.ts";

/** A message for a channel. */
export interface Message {
  /** A repeated message has the same id, so that a receiver recognizes it. */
  id: string;
  subject: string;
  text: string;
  alarms: readonly AlarmRow[];
}

/** Most alarms that a message names; the others are in the console. */
const named = 50;

/** An alarm without a row, which nobody can acknowledge. `at` in ms. */
export const unstoredAlarm = (kind: AlarmKind, subject: string, at: number): AlarmRow => ({
  ...{ id: 0, kind, subject, city: "", count: 1, details: {} },
  ...{ raised_at: new Date(at), last_at: new Date(at) },
  ...{ acknowledged_at: null, acknowledged_by: null },
});

/** One message about these alarms, at least one, in plain words. `baseUrl` is the console's address. */
export function alarmMessage(alarms: readonly AlarmRow[], baseUrl: string): Message {
  const [first] = alarms;
  const last = alarms.at(-1)!;
  const titles = new Set(alarms.map(titleOf));
  const subject =
    alarms.length === 1
      ? `[Fuelmark] ${titleOf(first!)}: ${placeOf(first!)}`
      : `[Fuelmark] ${alarms.length} alarms: ${[...titles].join(", ")}`;
  const shown = alarms.slice(0, named);
  const left = alarms.length - shown.length;
  const text = [
    `Fuelmark at ${baseUrl} has ${alarms.length === 1 ? "an alarm" : `${alarms.length} alarms`}.`,
    ...shown.map((alarm) => paragraph(alarm, baseUrl)),
    ...(left > 0 ? [`${left} more: npm run -s operator -- alarm list`] : []),
    first!.id === 0
      ? "It could not be stored among the alarms. It is told again every hour while it lasts."
      : `Open alarms: ${baseUrl}/console/#/\nAn alarm stays open until you acknowledge it. It is told once.`,
  ];
  return {
    id:
      first!.id === 0
        ? `alarm-${first!.kind}-${first!.raised_at.getTime()}`
        : `alarms-${first!.id}-${last.id}-${alarms.length}`,
    subject: clean(subject).slice(0, 200),
    text: `${text.join("\n\n")}\n`,
    alarms,
  };
}

/** A test message. `id` must be new. */
export const testMessage = (id: string, baseUrl: string): Message => ({
  id,
  subject: "[Fuelmark] Test of the alarms",
  text: `Fuelmark at ${baseUrl} sent this message because an operator asked for a test. Alarms will arrive here.\n`,
  alarms: [],
});

function paragraph(alarm: AlarmRow, baseUrl: string): string {
  const { meaning, command, page } = kindNamed(alarm.kind);
  const { id, subject, city, count, details } = alarm;
  const times = count > 1 ? ` (${count} times, the last at ${time(alarm.last_at)})` : "";
  const figures = Object.entries(details).map(
    ([name, value]) => `${clean(name).replaceAll("_", " ")} ${clean(String(value))}`,
  );
  const lines: [string, string][] = [
    ["Since", `${time(alarm.raised_at)}${times}`],
    ["About", clean(subject)],
    ["City", clean(city)],
    ["Figures", figures.join(", ")],
    ["Meaning", meaning],
    ["Look at", `npm run -s operator -- ${command}`],
    ["", `${baseUrl}/console/#${page}`],
    ["Then", id === 0 ? "" : `npm run -s operator -- alarm acknowledge ${id}`],
  ];
  return [
    id === 0 ? titleOf(alarm) : `${id}. ${titleOf(alarm)}`,
    ...lines
      .filter(([, value]) => value !== "")
      .map(([name, value]) => `  ${name.padEnd(8)} ${value}`),
  ].join("\n");
}

const titleOf = ({ kind }: AlarmRow): string => kindNamed(kind).title;

const placeOf = ({ subject, city }: AlarmRow): string =>
  city === "" ? subject : `${subject}, ${city}`;

const time = (at: Date): string => `${formatTime(at.getTime())} UTC`;

/** A name from an import must not begin another line. */
const clean = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
