import type { Language } from "#api/pages/messages.ts";
import type { Feed } from "#src/domain/service-state.ts";

const en = {
  title: "Service status",
  all: {
    ok: "Everything works",
    degraded: "Something does not work as it should",
    unknown: "Not everything is known just now",
  },
  states: { ok: "Works", degraded: "Disturbed", unknown: "Not known" },
  noPostgres: "The database cannot be reached. Stations are served as this process last knew them.",
  noRedis: "Redis cannot be reached. Limits hold for each process alone, and webhooks wait.",
  lastKnown: (time: string) => `Days and incidents are as of ${time} UTC.`,
  neverKnown: "Days and incidents have not been read yet.",
  feeds: {
    statuses: "Statuses of stations",
    delta: "Changes: delta and stream",
    dumps: "Dumps of the whole country",
    marks: "Processing of marks",
    webhooks: "Webhooks",
  } satisfies Record<Feed, string>,
  fresh: {
    statuses: (age: string) => `last read ${age} ago`,
    delta: (age: string) => `the cursor lies ${age} behind`,
    dumps: (age: string) => `the newest is ${age} old`,
    marks: (age: string) => `the oldest that waits came ${age} ago`,
    webhooks: (age: string) => `waiting ones were last looked for ${age} ago`,
  } satisfies Record<Feed, (age: string) => string>,
  noneWaits: "no mark waits",
  seconds: (n: number) => `${n} s`,
  minutes: (n: number) => `${n} min`,
  hours: (n: number) => `${n} h`,
  well: (share: string, days: number) => `${share}, ${days} ${days === 1 ? "day" : "days"} counted`,
  noRecord: "No record yet",
  chart: (feed: string, share: string, worst: string) =>
    `${feed}: ${share} of the minutes were well. ${worst}`,
  worst: (day: string, share: string) => `The worst day was ${day} with ${share}.`,
  noWorst: "No day had a fault.",
  from: (days: number) => `${days} days ago`,
  today: "today",
  incidents: "Incidents",
  past: (days: number) => `Earlier incidents, ${days} days`,
  none: "None.",
  open: "Open",
  since: (time: string) => `since ${time} UTC`,
  times: (from: string, to: string) => `${from} to ${to} UTC`,
  faults: "Days with faults, as a table",
  day: "Day",
  lost: (minutes: number) => (minutes === 0 ? "–" : `${minutes} min`),
  about:
    "A minute is well when a web process found the feed fresh in it. Minutes that nobody counted are not well. All times are UTC.",
  asOf: (time: string) => `As of ${time} UTC.`,
  json: "The same as JSON",
  docs: "Documentation of the API",
};

export type StatusMessages = typeof en;

const ru: StatusMessages = {
  title: "Состояние сервиса",
  all: {
    ok: "Всё работает",
    degraded: "Что-то работает не так, как должно",
    unknown: "Сейчас известно не всё",
  },
  states: { ok: "Работает", degraded: "Сбой", unknown: "Неизвестно" },
  noPostgres:
    "База данных недоступна. Заправки показываются такими, какими этот процесс знал их в последний раз.",
  noRedis: "Redis недоступен. Лимиты действуют в каждом процессе отдельно, вебхуки ждут.",
  lastKnown: (time) => `Дни и инциденты — на ${time} UTC.`,
  neverKnown: "Дни и инциденты ещё не прочитаны.",
  feeds: {
    statuses: "Статусы заправок",
    delta: "Изменения: delta и stream",
    dumps: "Выгрузки всей страны",
    marks: "Обработка отметок",
    webhooks: "Вебхуки",
  },
  fresh: {
    statuses: (age) => `прочитаны ${age} назад`,
    delta: (age) => `курсор отстаёт на ${age}`,
    dumps: (age) => `последней выгрузке ${age}`,
    marks: (age) => `самая старая ждёт ${age}`,
    webhooks: (age) => `ожидающие проверены ${age} назад`,
  },
  noneWaits: "ни одна отметка не ждёт",
  seconds: (n) => `${n} с`,
  minutes: (n) => `${n} мин`,
  hours: (n) => `${n} ч`,
  well: (share, days) => `${share} за ${days} дн.`,
  noRecord: "Записей пока нет",
  chart: (feed, share, worst) => `${feed}: исправно ${share} минут. ${worst}`,
  worst: (day, share) => `Худший день — ${day}: ${share}.`,
  noWorst: "Дней со сбоями не было.",
  from: (days) => `${days} дней`,
  today: "сегодня",
  incidents: "Инциденты",
  past: (days) => `Прошлые инциденты за ${days} дней`,
  none: "Не было.",
  open: "Открыт",
  since: (time) => `с ${time} UTC`,
  times: (from, to) => `с ${from} по ${to} UTC`,
  faults: "Дни со сбоями таблицей",
  day: "День",
  lost: (minutes) => (minutes === 0 ? "–" : `${minutes} мин`),
  about:
    "Минута исправна, если веб-процесс в это время нашёл данные свежими. Минуты, которые никто не посчитал, исправными не считаются. Время везде UTC.",
  asOf: (time) => `На ${time} UTC.`,
  json: "То же в JSON",
  docs: "Документация API",
};

const messages: Record<Language, StatusMessages> = { en, ru };

export const statusMessages = (language: Language): StatusMessages => messages[language];
