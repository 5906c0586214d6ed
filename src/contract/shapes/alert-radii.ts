import type { Grade } from "#src/domain/vocabulary.ts";

// Apart from the schemas, which no page needs.

/** How far a driver may want to drive, km. */
export const alertRadiiKm = [5, 10, 20] as const;

/** What a driver waits for, as the map shows it. */
export interface ShownAlert {
  id: number;
  /** Ends it, without the device's id. */
  token: string;
  grade: Grade;
  lat: number;
  lon: number;
  radius_km: number;
  /** Unix time in ms. */
  expires: number;
}

/** Answer of `/alerts/mine` and `/alerts/ask`. */
export interface ShownAlerts {
  alerts: ShownAlert[];
  /** The service's key for push services, base64url: browsers want it when they subscribe. */
  key: string;
  /** For so many days a driver is told. */
  days: number;
  /** At most so often a day. */
  per_day: number;
}
