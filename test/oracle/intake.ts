/**
 * A second reading of decisions 1 to 4 on what acceptance fixes for a mark, without src/domain.
 */
export interface OracleReport {
  readonly reporter: string;
  readonly stationId: string;
  readonly status: string;
  readonly lat?: number | undefined;
  readonly lon?: number | undefined;
  readonly accM?: number | undefined;
  /** effective time, ms */
  readonly at: number;
}

interface Place {
  readonly lat: number;
  readonly lon: number;
}

/** What was accepted before a mark, in the order of acceptance; `counting`: not held, rejected or withdrawn then. */
export interface Earlier {
  readonly accepted: readonly OracleReport[];
  readonly counting: readonly OracleReport[];
}

/** What one mark must have been judged to be at its acceptance, given those accepted before it; `caution` comes later. */
export function judgedAs(
  report: OracleReport,
  { accepted, counting }: Earlier,
  stations: ReadonlyMap<string, Place>,
  confirmMin: number,
  now: number,
): { remote: boolean; needed: number; rule: string } {
  const remote = !isGeolocated(report, accepted, stations);
  if (confirmMin > 0) return { remote, needed: confirmMin, rule: "key-threshold" };
  if (remote) return { remote, needed: 2, rule: "remote" };
  const here = stations.get(report.stationId)!;
  const doubted = counting.some(
    (other) =>
      other.reporter !== report.reporter &&
      now - other.at < 30 * 60e3 &&
      km(here, stations.get(other.stationId)!) <= 0.5,
  );
  if (report.status === "no" && doubted) return { remote, needed: 2, rule: "no-nearby-marks" };
  return { remote, needed: 1, rule: "geolocated" };
}

/**
 * What the prices of a mark need where they are more than 30 % above or below the median around the station
 * (decisions 2.29), by grade; null where none is. A grade without a median is absent.
 */
export function pricesNeededBy(
  prices: Readonly<Record<string, number>> | undefined,
  medians: Readonly<Record<string, number>>,
): Record<string, number> | null {
  const out = Object.entries(prices ?? {}).filter(([grade, price]) => {
    const median = medians[grade];
    return median !== undefined && (price > median * 1.3 || price < median * 0.7);
  });
  return out.length === 0 ? null : Object.fromEntries(out.map(([grade]) => [grade, 2]));
}

function isGeolocated(
  report: OracleReport,
  earlier: readonly OracleReport[],
  stations: ReadonlyMap<string, Place>,
): boolean {
  if (report.lat === undefined || report.lon === undefined) return false;
  if (report.accM !== undefined && report.accM > 1000) return false;
  const place = { lat: report.lat, lon: report.lon };
  const allowedM = 500 + Math.min(report.accM ?? 0, 500);
  if (km(place, stations.get(report.stationId)!) * 1000 > allowedM) return false;
  // The previous one in the order of marks: one delivered later may have happened earlier.
  let previous: OracleReport | undefined;
  for (const other of earlier) {
    if (other.reporter !== report.reporter || other.lat === undefined || other.lon === undefined) {
      continue;
    }
    if (other.at <= report.at && (previous === undefined || other.at >= previous.at)) {
      previous = other;
    }
  }
  if (previous === undefined) return true;
  const distance = km(place, { lat: previous.lat!, lon: previous.lon! });
  const hours = (report.at - previous.at) / 3600e3;
  return !(distance > 2 && distance / hours > 200);
}

/** Great-circle distance by the spherical law of cosines, km, on a sphere of 6371 km. */
export function km(a: Place, b: Place): number {
  const rad = Math.PI / 180;
  const cosine =
    Math.sin(a.lat * rad) * Math.sin(b.lat * rad) +
    Math.cos(a.lat * rad) * Math.cos(b.lat * rad) * Math.cos((a.lon - b.lon) * rad);
  return 6371 * Math.acos(Math.min(1, Math.max(-1, cosine)));
}
