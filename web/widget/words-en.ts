import { plural } from "#src/contract/language.ts";
import type { Grade, ServedStatus } from "#src/domain/vocabulary.ts";
import type { Order } from "#web/widget/ordering.ts";

/** The wire has it in Russian. */
const nameOf = (grade: Grade): string => (grade === "ДТ" ? "diesel" : grade);

const stations = plural("en", { one: "station", other: "stations" });
const drivers = plural("en", { one: "driver", other: "drivers" });
const minutesWord = plural("en", { one: "minute", other: "minutes" });

/** All words of the map; `Words`, and with it the other language, has the same. */
export const en = {
  title: "Fuel map",
  statuses: {
    yes: "Fuel",
    low: "Little fuel",
    no: "No fuel",
    queue: "Queue",
    nodata: "No data",
  } satisfies Record<ServedStatus, string>,
  /** Statuses as part of a sentence. */
  statusesInside: {
    yes: "there is fuel",
    low: "little fuel",
    no: "no fuel",
    queue: "a queue",
    nodata: "no data",
  } satisfies Record<ServedStatus, string>,
  map: "Map of filling stations",
  search: "Search",
  searchHint: "City or station",
  clear: "Clear",
  cities: "Cities",
  stations: "Stations",
  nothingFound: (text: string) => `Nothing found for “${text}”`,
  filters: "Filters",
  filtersOn: (count: number) => `Filters, ${count} on`,
  reset: "Reset",
  show: (count: number) => `Show ${count} ${stations(count)}`,
  fuel: "Fuel",
  status: "Status",
  queue: "Queue",
  queueOf: (bucket: string) => `${bucket} cars`,
  withPrice: "Only with prices",
  fresh: "Not older than",
  anyAge: "Any age",
  hours: (count: number) => `${count} h`,
  close: "Close",
  back: "Back",
  myFuel: "My fuel",
  mustHave: "Only stations that have",
  haveGrade: (have: number, of: number, grade: Grade) => `${have} of ${of} have ${nameOf(grade)}`,
  gradeName: (grade: Grade): string => (grade === "ДТ" ? "Diesel" : grade),
  whichFuel: "Which fuel?",
  nearest: (grade: Grade | null) => `Nearest with ${grade === null ? "fuel" : nameOf(grade)}`,
  nearMe: "Near me",
  whereAreYou: "Where are you looking for fuel?",
  changePlace: "Look somewhere else",
  allCities: "All cities …",
  aroundMap: "Around the middle of the map",
  nearestByCity: "You can look around a city instead.",
  orderBy: "Order",
  orders: { near: "Near", likely: "Likely", fresh: "Fresh", cheap: "Cheap" } satisfies Record<
    Order,
    string
  >,
  untold: "Nearby, where nobody has told yet",
  longAgo: "Told more than 12 hours ago",
  /** `time`: "10:15". */
  asOf: (time: string) => `As of ${time}.`,
  onlyPrice: "Price known, fuel not",
  nearestOther: (grade: Grade | null, name: string, distance: string) =>
    `Nearest with ${grade === null ? "fuel" : nameOf(grade)}: ${name}, ${distance} from there`,
  tellMe: "Tell me when it is there",
  alongWay: "Along my way",
  missing: "A station is missing here",
  wrongStation: "Something wrong with the station?",
  menu: "More",
  looking: "Looking for the nearest …",
  within: (km: number, city: string | null) =>
    `Within ${km} km of ${city === null ? "you" : `the middle of ${city || "the map"}`}`,
  nobodyHas: (grade: Grade | null, km: number) =>
    `No station with ${grade === null ? "fuel" : nameOf(grade)} is known within ${km} km.`,
  noneWithin: (km: number) => `There is no station within ${km} km of you.`,
  again: "Try again",
  route: "Route",
  routeTo: (name: string) => `Route to ${name}`,
  otherMaps: "Other maps",
  phoneMaps: "Maps on this phone",
  favourite: "Favourite",
  favourites: "Favourites",
  noFavourites: "No favourites yet. Press the star on a station’s card.",
  silentFavourites: "Nothing can be said about these just now:",
  unfavourite: (name: string) => `Remove ${name} from the favourites`,
  remove: "Remove",
  brand: "Brand",
  brandOf: (brand: string, count: number) => `${brand} (${count})`,
  moreBrands: "More brands",
  share: "Share",
  linkCopied: "The link is copied.",
  position: {
    asking: "Looking for your position …",
    found: "Your position goes along with the mark: at the station one mark is often enough.",
    /** `distance`: "730 m". */
    far: (distance: string) =>
      `You are ${distance} away: the mark counts when another driver confirms it. At the station one is often enough.`,
    without:
      "Your position is not known. The mark goes without it: another driver has to confirm it.",
    denied:
      "Your position is not allowed. The mark goes without it: another driver has to confirm it.",
  },
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  locate: "Where am I",
  fullscreen: "Full screen",
  leaveFullscreen: "Leave full screen",
  toDark: "Dark theme",
  toLight: "Light theme",
  list: "List of stations",
  legend: "Legend",
  badges: { pending: "Not confirmed", conflict: "Disputed" },
  fading: "Paler: older or less likely",
  scale: { metres: "m", kilometres: "km" },
  stationsInView: (count: number) => `${count} ${stations(count)} in view`,
  nothingInView: "There are no stations here. Move the map or zoom out.",
  nothingMatches: "No station here matches the filters.",
  first: (count: number) => `The nearest ${count} are listed. Zoom in for the others.`,
  unnamed: "Filling station",
  ago: (minutes: number) =>
    minutes < 1
      ? "just now"
      : minutes < 60
        ? `${minutes} min ago`
        : minutes < 48 * 60
          ? `${Math.floor(minutes / 60)} h ago`
          : `${Math.floor(minutes / 1440)} days ago`,
  /** The age below a sign on the map. */
  age: (minutes: number) =>
    minutes < 60
      ? `${minutes} min`
      : minutes < 48 * 60
        ? `${Math.floor(minutes / 60)} h`
        : `${Math.floor(minutes / 1440)} d`,
  updated: (ago: string) => `Updated ${ago}`,
  never: "Nobody has marked this station yet",
  unconfirmed: "No mark is confirmed yet",
  driversLast: (count: number, ago: string) => `${count} ${drivers(count)}, updated ${ago}`,
  chanceFrom: "by drivers' marks and their age",
  devices: (count: number) => `${count} independent`,
  imported: "Imported data, not from drivers",
  gradesAndPrices: "Grades, price per litre",
  limit: (litres: number) => `At most ${litres} l per person`,
  noCash: "No cash",
  cardsOnly: "Fuel cards only",
  queueCars: (bucket: string) => `Queue: ${bucket} cars`,
  pending: (status: string) => `Not confirmed yet: ${status}`,
  pendingBy: (count: number) => `marked by ${count} ${drivers(count)}`,
  pendingOwn: "Your mark waits for another driver to confirm it",
  conflict: "Drivers disagree",
  conflictSide: (status: string, count: number) => `${status}: ${count} ${drivers(count)}`,
  update: "Update status",
  whatNow: "What is it like there now?",
  stillTrue: "Still true?",
  atStation: (name: string) => `Are you at ${name}? Is there fuel?`,
  cooldownUntil: (at: string, until: string) => `You marked this at ${at}; again from ${until}.`,
  yes: "Yes",
  no: "No",
  yourMark: "Your mark",
  saying: (status: string) => `Your mark: ${status}.`,
  sentIn: (seconds: number) => `Sent in ${seconds} s`,
  undo: "Undo",
  takeBack: {
    button: "Take back",
    left: (time: string) => `${time} left`,
    done: "Your mark is taken back. You can make another one.",
    late: "This mark cannot be taken back any more.",
    failed: "The service could not be reached. Your mark stands; try again.",
  },
  sendNow: "Send now",
  confirm: (status: string) => `Confirm: ${status}`,
  details: "Add details",
  lessDetails: "Without details",
  send: "Send",
  sending: "Sending …",
  cancel: "Cancel",
  gradeState: (grade: string) => `Fuel ${grade}`,
  there: "there",
  gone: "gone",
  unknown: "?",
  notKnown: "not known",
  unsold: "not sold here",
  notSold: (grade: Grade) => `No ${nameOf(grade)} sold`,
  /** `grades`: "92, 95". */
  sells: (grades: string) => `Sells ${grades}`,
  closedNow: "Closed now",
  cars: "Cars in the queue",
  pricePlaceholder: "0.00",
  priceOf: (grade: string) => `Price of ${grade}`,
  limitLabel: "Limit per person, litres",
  comment: "Comment",
  commentHint: "Up to 200 characters, for the operator",
  express: "It has run out just now",
  outcomes: {
    published: "Thank you. Your mark is on the map.",
    confirmed: "Thank you. You have confirmed the status.",
    pending: (more: number) =>
      `Thank you. It shows on the map when ${more === 1 ? "one more driver confirms" : `${more} more drivers confirm`} it.`,
    held: "Thank you. The operator looks at your mark before it is shown.",
    conflict: "Thank you. Other drivers say otherwise: both versions are shown until it is clear.",
    superseded: "Thank you. Newer marks say otherwise, so the status stays.",
    expired: "This mark is too old to count.",
    queued: "Thank you. Your mark is safe and shows in a moment.",
    duplicate: "You have said the same a moment ago. Nothing was lost.",
    remote: "It was taken without your position at the station.",
  },
  refusals: {
    ownMark: "This is your own mark. Another driver has to confirm it.",
    nothingPending: "There is nothing to confirm any more: the status has changed.",
    cooldown: (minutes: number) =>
      `You have marked this station a short time ago. You can do so again in ${minutes} ${minutesWord(minutes)}.`,
    hourlyCap: "That was a lot of marks in one hour. Take a break and try again later.",
    dailyCap: "That was a lot of marks for one day. Try again tomorrow.",
    newDevices:
      "Too many new devices have marked from this network today. Try again tomorrow, or from another network.",
    tooFar:
      "You do not seem to be at the station. Marks are taken from there only; allow your position.",
    reportsDisabled: "Marks are switched off on this map.",
    stationGone: "This station is not on the map any more.",
    invalid: "Something in the form is not right. Check the details.",
    rateLimit: "Too many requests from this network.",
    keyGone: "This map may not take marks just now.",
    other: "The mark was not taken.",
  },
  notices: {
    offline: "You are offline. What you see may be old.",
    unavailable: "The service does not answer just now. Trying again …",
    unavailableNow: "The service does not answer just now.",
    limited: (seconds: number) =>
      `Too many requests from this network. Next try in ${seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`}.`,
    refused: "The key of this map is not valid any more.",
    tooMany: "Not all stations are shown. Zoom in to see them all.",
    noPosition: "Your position could not be found.",
    positionDenied: "This page may not see your position. Allow it in the browser’s settings.",
    noWebgl: "This browser cannot draw the map. The stations are listed instead.",
    mapFailed:
      "The map could not be loaded: the stations are listed. Reload the page to try again.",
    cityUnknown: (name: string) => `There is no city called “${name}”.`,
    stationUnknown: (id: string) => `There is no station ${id}.`,
    loadingMap: "Loading the map …",
    loading: "Loading stations …",
  },
  gestures: {
    windows: "Hold Ctrl while you scroll to zoom the map",
    mac: "Hold ⌘ while you scroll to zoom the map",
    touch: "Use two fingers to move the map",
  },
  forget: {
    ask: "Forget this device",
    question:
      "The service erases what leads from your marks to this device. The marks stay. This cannot be undone.",
    yes: "Forget it",
    done: "This device is forgotten.",
    failed: "The service does not answer just now, and nothing was forgotten. Try again later.",
  },
  pages: { overview: "Where fuel is missing", status: "Service status", privacy: "Privacy" },
};
