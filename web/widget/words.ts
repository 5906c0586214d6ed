import { type Language, localeOf, preferredLanguage } from "#src/contract/language.ts";
import { page } from "#web/widget/page.ts";
import { en } from "#web/widget/words-en.ts";
import { ru } from "#web/widget/words-ru.ts";
import type { Order } from "#web/widget/ordering.ts";
import type { Grade, ServedStatus } from "#src/domain/vocabulary.ts";

/** All words of the map; both languages have all of them. */
export interface Words {
  title: string;
  statuses: Record<ServedStatus, string>;
  /** Statuses as part of a sentence. */
  statusesInside: Record<ServedStatus, string>;
  map: string;
  search: string;
  searchHint: string;
  clear: string;
  cities: string;
  stations: string;
  nothingFound: (text: string) => string;
  filters: string;
  filtersOn: (count: number) => string;
  reset: string;
  show: (count: number) => string;
  fuel: string;
  status: string;
  queue: string;
  queueOf: (bucket: string) => string;
  withPrice: string;
  fresh: string;
  anyAge: string;
  hours: (count: number) => string;
  close: string;
  back: string;
  myFuel: string;
  mustHave: string;
  haveGrade: (have: number, of: number, grade: Grade) => string;
  gradeName: (grade: Grade) => string;
  whichFuel: string;
  nearest: (grade: Grade | null) => string;
  nearMe: string;
  whereAreYou: string;
  changePlace: string;
  allCities: string;
  aroundMap: string;
  orderBy: string;
  orders: Record<Order, string>;
  longAgo: string;
  untold: string;
  /** `time`: "10:15". */
  asOf: (time: string) => string;
  onlyPrice: string;
  nearestOther: (grade: Grade | null, name: string, distance: string) => string;
  tellMe: string;
  menu: string;
  missing: string;
  alongWay: string;
  wrongStation: string;
  nearestByCity: string;
  looking: string;
  within: (km: number, city: string | null) => string;
  nobodyHas: (grade: Grade | null, km: number) => string;
  noneWithin: (km: number) => string;
  again: string;
  route: string;
  routeTo: (name: string) => string;
  otherMaps: string;
  phoneMaps: string;
  favourite: string;
  favourites: string;
  noFavourites: string;
  silentFavourites: string;
  unfavourite: (name: string) => string;
  remove: string;
  brand: string;
  brandOf: (brand: string, count: number) => string;
  moreBrands: string;
  share: string;
  linkCopied: string;
  position: {
    asking: string;
    found: string;
    /** `distance`: "730 m". */
    far: (distance: string) => string;
    without: string;
    denied: string;
  };
  zoomIn: string;
  zoomOut: string;
  locate: string;
  fullscreen: string;
  leaveFullscreen: string;
  toDark: string;
  toLight: string;
  list: string;
  legend: string;
  badges: { pending: string; conflict: string };
  fading: string;
  scale: { metres: string; kilometres: string };
  stationsInView: (count: number) => string;
  nothingInView: string;
  nothingMatches: string;
  first: (count: number) => string;
  unnamed: string;
  ago: (minutes: number) => string;
  /** The age below a sign on the map. */
  age: (minutes: number) => string;
  updated: (ago: string) => string;
  never: string;
  unconfirmed: string;
  driversLast: (count: number, ago: string) => string;
  chanceFrom: string;
  devices: (count: number) => string;
  imported: string;
  gradesAndPrices: string;
  limit: (litres: number) => string;
  noCash: string;
  cardsOnly: string;
  queueCars: (bucket: string) => string;
  pending: (status: string) => string;
  pendingBy: (count: number) => string;
  pendingOwn: string;
  conflict: string;
  conflictSide: (status: string, count: number) => string;
  update: string;
  whatNow: string;
  stillTrue: string;
  atStation: (name: string) => string;
  cooldownUntil: (at: string, until: string) => string;
  yes: string;
  no: string;
  yourMark: string;
  saying: (status: string) => string;
  sentIn: (seconds: number) => string;
  undo: string;
  sendNow: string;
  takeBack: {
    button: string;
    left: (time: string) => string;
    done: string;
    late: string;
    failed: string;
  };
  confirm: (status: string) => string;
  details: string;
  lessDetails: string;
  send: string;
  sending: string;
  cancel: string;
  gradeState: (grade: string) => string;
  there: string;
  gone: string;
  unknown: string;
  notKnown: string;
  unsold: string;
  notSold: (grade: Grade) => string;
  /** `grades`: "92, 95". */
  sells: (grades: string) => string;
  closedNow: string;
  cars: string;
  priceOf: (grade: string) => string;
  pricePlaceholder: string;
  limitLabel: string;
  comment: string;
  commentHint: string;
  express: string;
  outcomes: {
    published: string;
    confirmed: string;
    pending: (more: number) => string;
    held: string;
    conflict: string;
    superseded: string;
    expired: string;
    queued: string;
    duplicate: string;
    remote: string;
  };
  refusals: {
    ownMark: string;
    nothingPending: string;
    cooldown: (minutes: number) => string;
    hourlyCap: string;
    dailyCap: string;
    newDevices: string;
    tooFar: string;
    reportsDisabled: string;
    stationGone: string;
    invalid: string;
    rateLimit: string;
    keyGone: string;
    other: string;
  };
  notices: {
    offline: string;
    unavailable: string;
    unavailableNow: string;
    limited: (seconds: number) => string;
    refused: string;
    tooMany: string;
    noPosition: string;
    positionDenied: string;
    noWebgl: string;
    mapFailed: string;
    cityUnknown: (name: string) => string;
    stationUnknown: (id: string) => string;
    loadingMap: string;
    loading: string;
  };
  gestures: { windows: string; mac: string; touch: string };
  forget: { ask: string; question: string; yes: string; done: string; failed: string };
  pages: { overview: string; status: string; privacy: string };
}

const all: Record<Language, Words> = { en, ru };

/** The operator's own map is in the language of the server's page, which knows what this device has chosen. */
export const language =
  page.language ??
  preferredLanguage(page.isOwnMap ? [document.documentElement.lang] : navigator.languages);

/** The locale for dates and times of Intl. */
export const locale = localeOf(language);

/** The words of the viewer's language, or of the one that the address asks for. */
export const words = all[language];

/** A list of grades as the wire has it ("92,ДТ"), for people. */
export const namesOf = (grades: string): string =>
  grades
    .split(",")
    .map((grade) => words.gradeName(grade as Grade))
    .join(", ");
