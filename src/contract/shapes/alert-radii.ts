import type { Grade } from "#src/domain/vocabulary.ts";

// In a file of its own, because no page needs the schemas.

/** The distances that a driver may choose, km; the first is for one station alone. */
export const alertRadiiKm = [0.1, 5, 10, 20] as const;

/** An alert that a driver waits for, as the map shows it. */
export interface ShownAlert {
  id: number;
  /** Ends it, without the device's id. */
  token: string;
  grade: Grade;
  /** It waits until the grade is likely there. */
  likely: boolean;
  lat: number;
  lon: number;
  radius_km: number;
  /** Unix time in ms. */
  expires: number;
}

/** Answer of `/alerts/mine` and `/alerts/ask`. */
export interface ShownAlerts {
  alerts: ShownAlert[];
  /** The service's key for push services, base64url: browsers need it to subscribe. */
  key: string;
  /** Number of days for which an alert lasts. */
  days: number;
  /** Most notifications of a device in a day. */
  per_day: number;
}
