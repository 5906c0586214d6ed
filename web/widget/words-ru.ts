import { plural } from "#src/contract/language.ts";
import type { Words } from "#web/widget/words.ts";

const stations = plural("ru", { one: "станция", few: "станции", many: "станций" });
const shownStations = plural("ru", { one: "станцию", few: "станции", many: "станций" });
const drivers = plural("ru", { one: "водитель", few: "водителя", many: "водителей" });
const inMinutes = plural("ru", { one: "минуту", few: "минуты", many: "минут" });
const devices = plural("ru", { one: "независимый", few: "независимых", many: "независимых" });

const wait = (seconds: number): string =>
  seconds < 120
    ? `${seconds} с`
    : `${Math.ceil(seconds / 60)} ${inMinutes(Math.ceil(seconds / 60))}`;

export const ru: Words = {
  title: "Карта топлива",
  statuses: {
    yes: "Есть",
    low: "Мало",
    no: "Нет топлива",
    queue: "Очередь",
    nodata: "Нет данных",
  },
  statusesInside: {
    yes: "топливо есть",
    low: "топлива мало",
    no: "топлива нет",
    queue: "очередь",
    nodata: "нет данных",
  },
  map: "Карта заправочных станций",
  search: "Поиск",
  searchHint: "Город или АЗС",
  clear: "Очистить",
  cities: "Города",
  stations: "Станции",
  nothingFound: (text) => `По запросу «${text}» ничего не найдено`,
  filters: "Фильтры",
  filtersOn: (count) => `Фильтры, включено: ${count}`,
  reset: "Сбросить",
  show: (count) => `Показать ${count} ${shownStations(count)}`,
  fuel: "Топливо",
  status: "Статус",
  queue: "Очередь",
  queueOf: (bucket) => `${bucket} машин`,
  withPrice: "Только с ценами",
  fresh: "Не старше",
  anyAge: "Любая давность",
  hours: (count) => `${count} ч`,
  close: "Закрыть",
  back: "Назад",
  myFuel: "Моё топливо",
  mustHave: "Только где есть",
  haveGrade: (have, of, grade) => `${grade} есть на ${have} из ${of}`,
  gradeName: (grade) => grade,
  whichFuel: "Какое топливо?",
  nearest: (grade) => (grade === null ? "Ближайшие с топливом" : `Ближайшие с ${grade}`),
  nearMe: "Рядом со мной",
  whereAreYou: "Где ищете топливо?",
  changePlace: "Искать в другом месте",
  allCities: "Все города …",
  aroundMap: "Вокруг середины карты",
  nearestByCity: "Можно искать вокруг города.",
  orderBy: "Порядок",
  orders: { near: "Ближе", likely: "Вернее", fresh: "Свежее", cheap: "Дешевле" },
  untold: "Рядом, где пока никто не сообщал",
  longAgo: "Отмечено больше 12 часов назад",
  asOf: (time) => `Данные на ${time}.`,
  onlyPrice: "Цена есть, наличие неизвестно",
  nearestOther: (grade, name, distance) =>
    `Ближайшая с ${grade ?? "топливом"}: ${name}, ${distance} оттуда`,
  tellMe: "Сообщить, когда появится",
  alongWay: "По пути",
  missing: "Здесь не хватает станции",
  wrongStation: "Со станцией что-то не так?",
  menu: "Ещё",
  looking: "Ищем ближайшие …",
  within: (km, city) =>
    city === null
      ? `В пределах ${km} км от вас`
      : `В пределах ${km} км от ${city === "" ? "середины карты" : `центра: ${city}`}`,
  nobodyHas: (grade, km) => `В пределах ${km} км нет известных станций с ${grade ?? "топливом"}.`,
  noneWithin: (km) => `В пределах ${km} км от вас нет станций.`,
  again: "Попробовать снова",
  route: "Маршрут",
  routeTo: (name) => `Маршрут: ${name}`,
  otherMaps: "Другие карты",
  phoneMaps: "Карты телефона",
  favourite: "Избранное",
  favourites: "Избранное",
  noFavourites: "Здесь пока пусто. Нажмите звёздочку на карточке станции.",
  silentFavourites: "Об этих станциях сейчас ничего не известно:",
  unfavourite: (name) => `Убрать из избранного: ${name}`,
  remove: "Убрать",
  brand: "Сеть",
  brandOf: (brand, count) => `${brand} (${count})`,
  moreBrands: "Ещё сети",
  share: "Поделиться",
  linkCopied: "Ссылка скопирована.",
  position: {
    asking: "Определяем ваше местоположение …",
    found: "Местоположение отправится с отметкой: на станции часто хватает одной отметки.",
    far: (distance) =>
      `До станции ${distance}: отметку должен подтвердить другой водитель. На самой станции часто хватает одной.`,
    without:
      "Местоположение не определено. Отметка уйдёт без него: её должен подтвердить другой водитель.",
    denied:
      "Доступ к местоположению закрыт. Отметка уйдёт без него: её должен подтвердить другой водитель.",
  },
  zoomIn: "Приблизить",
  zoomOut: "Отдалить",
  locate: "Где я",
  fullscreen: "На весь экран",
  leaveFullscreen: "Выйти из полного экрана",
  toDark: "Тёмная тема",
  toLight: "Светлая тема",
  list: "Список станций",
  legend: "Обозначения",
  badges: { pending: "Не подтверждено", conflict: "Спорно" },
  fading: "Бледнее: давно или вряд ли",
  scale: { metres: "м", kilometres: "км" },
  stationsInView: (count) => `${count} ${stations(count)} на карте`,
  nothingInView: "Здесь нет станций. Передвиньте или отдалите карту.",
  nothingMatches: "Здесь ни одна станция не подходит под фильтры.",
  first: (count) => `Показаны ближайшие ${count}. Приблизьте карту, чтобы увидеть остальные.`,
  unnamed: "Заправка",
  ago: (minutes) =>
    minutes < 1
      ? "только что"
      : minutes < 60
        ? `${minutes} мин назад`
        : minutes < 48 * 60
          ? `${Math.floor(minutes / 60)} ч назад`
          : `${Math.floor(minutes / 1440)} дн. назад`,
  age: (minutes) =>
    minutes < 60
      ? `${minutes} мин`
      : minutes < 48 * 60
        ? `${Math.floor(minutes / 60)} ч`
        : `${Math.floor(minutes / 1440)} дн.`,
  updated: (ago) => `Обновлено ${ago}`,
  never: "Эту станцию ещё никто не отмечал",
  unconfirmed: "Пока нет подтверждённых отметок",
  driversLast: (count, ago) => `${count} ${drivers(count)}, обновлено ${ago}`,
  chanceFrom: "по отметкам водителей и их давности",
  devices: (count) => `${count} ${devices(count)}`,
  imported: "Данные импорта, не от водителей",
  gradesAndPrices: "Марки, цена за литр",
  limit: (litres) => `Не больше ${litres} л в одни руки`,
  noCash: "Без наличных",
  cardsOnly: "Только топливные карты",
  queueCars: (bucket) => `Очередь: ${bucket} машин`,
  pending: (status) => `Пока не подтверждено: ${status}`,
  pendingBy: (count) => `отметил${count === 1 ? "" : "и"} ${count} ${drivers(count)}`,
  pendingOwn: "Ваша отметка ждёт подтверждения другим водителем",
  conflict: "Водители расходятся",
  conflictSide: (status, count) => `${status}: ${count} ${drivers(count)}`,
  update: "Обновить статус",
  whatNow: "Что там сейчас?",
  stillTrue: "Всё ещё так?",
  atStation: (name) => `Вы на станции ${name}? Топливо есть?`,
  cooldownUntil: (at, until) => `Вы отметили станцию в ${at}; снова можно с ${until}.`,
  yes: "Да",
  no: "Нет",
  yourMark: "Ваша отметка",
  saying: (status) => `Ваша отметка: ${status}.`,
  sentIn: (seconds) => `Отправим через ${seconds} с`,
  undo: "Отменить",
  takeBack: {
    button: "Отменить отметку",
    left: (time) => `ещё ${time}`,
    done: "Отметка отменена. Можно поставить другую.",
    late: "Эту отметку уже нельзя отменить.",
    failed: "Сервис недоступен. Отметка осталась; попробуйте ещё раз.",
  },
  sendNow: "Отправить сейчас",
  confirm: (status) => `Подтвердить: ${status}`,
  details: "Добавить подробности",
  lessDetails: "Без подробностей",
  send: "Отправить",
  sending: "Отправляем …",
  cancel: "Отмена",
  gradeState: (grade) => `Топливо ${grade}`,
  there: "есть",
  gone: "нет",
  unknown: "?",
  notKnown: "неизвестно",
  unsold: "здесь не продают",
  notSold: (grade) => `${grade} не продают`,
  sells: (grades) => `Продают ${grades}`,
  closedNow: "Сейчас закрыто",
  cars: "Машин в очереди",
  pricePlaceholder: "0,00",
  priceOf: (grade) => `Цена ${grade}`,
  limitLabel: "Ограничение в одни руки, литров",
  comment: "Комментарий",
  commentHint: "До 200 знаков, для оператора",
  express: "Топливо кончилось только что",
  outcomes: {
    published: "Спасибо. Ваша отметка уже на карте.",
    confirmed: "Спасибо. Вы подтвердили статус.",
    pending: (more) =>
      `Спасибо. Отметка появится на карте, когда её ${more === 1 ? "подтвердит ещё один водитель" : `подтвердят ещё ${more} ${drivers(more)}`}.`,
    held: "Спасибо. Оператор проверит вашу отметку, прежде чем её показать.",
    conflict: "Спасибо. Другие водители говорят иначе: пока видны обе версии.",
    superseded: "Спасибо. Более новые отметки говорят иначе, статус остаётся прежним.",
    expired: "Эта отметка слишком старая и не учитывается.",
    queued: "Спасибо. Отметка сохранена и скоро появится.",
    duplicate: "Вы только что отметили то же самое. Ничего не потеряно.",
    remote: "Она принята без вашего местоположения на станции.",
  },
  refusals: {
    ownMark: "Это ваша собственная отметка. Её должен подтвердить другой водитель.",
    nothingPending: "Подтверждать уже нечего: статус изменился.",
    cooldown: (minutes) =>
      `Вы недавно отмечали эту станцию. Снова можно через ${minutes} ${inMinutes(minutes)}.`,
    hourlyCap: "Слишком много отметок за час. Сделайте перерыв и попробуйте позже.",
    dailyCap: "Слишком много отметок за день. Попробуйте завтра.",
    newDevices:
      "Сегодня из этой сети отмечало слишком много новых устройств. Попробуйте завтра или из другой сети.",
    tooFar:
      "Похоже, вы не на станции. Отметки принимаются только оттуда; разрешите доступ к местоположению.",
    reportsDisabled: "На этой карте отметки выключены.",
    stationGone: "Этой станции больше нет на карте.",
    invalid: "В форме что-то не так. Проверьте подробности.",
    rateLimit: "Слишком много запросов из этой сети.",
    keyGone: "Эта карта сейчас не принимает отметки.",
    other: "Отметка не принята.",
  },
  notices: {
    offline: "Нет связи. То, что вы видите, могло устареть.",
    unavailable: "Сервис сейчас не отвечает. Пробуем снова …",
    unavailableNow: "Сервис сейчас не отвечает.",
    limited: (seconds) =>
      `Слишком много запросов из этой сети. Следующая попытка через ${wait(seconds)}.`,
    refused: "Ключ этой карты больше не действует.",
    tooMany: "Показаны не все станции. Приблизьте карту, чтобы увидеть все.",
    noPosition: "Не удалось определить ваше местоположение.",
    positionDenied:
      "Странице нельзя видеть ваше местоположение. Разрешите это в настройках браузера.",
    noWebgl: "Этот браузер не может нарисовать карту. Вместо неё — список станций.",
    mapFailed:
      "Карта не загрузилась, вместо неё — список станций. Обновите страницу, чтобы попробовать снова.",
    cityUnknown: (name) => `Города «${name}» нет в списке.`,
    stationUnknown: (id) => `Станции ${id} нет.`,
    loadingMap: "Загружаем карту …",
    loading: "Загружаем станции …",
  },
  gestures: {
    windows: "Чтобы изменить масштаб, прокручивайте с клавишей Ctrl",
    mac: "Чтобы изменить масштаб, прокручивайте с клавишей ⌘",
    touch: "Двигайте карту двумя пальцами",
  },
  forget: {
    ask: "Забыть это устройство",
    question:
      "Сервис сотрёт всё, что ведёт от ваших отметок к этому устройству. Сами отметки останутся. Отменить это нельзя.",
    yes: "Забыть",
    done: "Устройство забыто.",
    failed: "Сервис сейчас не отвечает, ничего не забыто. Попробуйте позже.",
  },
  pages: {
    overview: "Где не хватает топлива",
    status: "Состояние сервиса",
    privacy: "Конфиденциальность",
  },
};
