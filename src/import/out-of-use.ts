import type { Tags } from "#src/import/osm-object.ts";

/**
 * Why no driver can fill up at an object of OpenStreetMap, though it is or was a filling station: the name of the reason
 * that a refusal gives. Null for an ordinary station.
 */
export function outOfUse(tags: Tags): string | null {
  const says = (key: string, ...values: string[]): boolean => values.includes(String(tags[key]));
  const isNow = says("amenity", "fuel");
  const isOnce = (...prefixes: string[]): boolean =>
    prefixes.some(
      (prefix) => (!isNow && says(`${prefix}:amenity`, "fuel")) || says(prefix, "yes", "fuel"),
    );
  if (isOnce("construction", "proposed", "planned")) return "not-yet-open";
  if (isOnce("disused", "abandoned", "was", "demolished", "removed", "razed", "ruins"))
    return "disused";
  const isForBoats = says("boat", "yes", "designated") && says("motor_vehicle", "no");
  if (isForBoats || (!isNow && says("waterway", "fuel"))) return "boats-only";
  if (!isNow && says("aeroway", "fuel")) return "aircraft-only";
  if (/^(private|no|permit|employees|residents|military)$/.test(String(tags["access"])))
    return "not-public";
  if (/^(24\/7 |Mo-Su )?(closed|off)( "[^"]*")?$/.test(String(tags["opening_hours"]).trim()))
    return "closed";
  return null;
}
