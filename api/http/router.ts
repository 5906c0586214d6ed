import type { Route } from "#api/http/route.ts";
import { decodePart } from "#src/contract/query.ts";

export const apiBase = "/api/v1/partner";

/** All routes of one path, by method. */
export interface Place {
  /** The path as it is written in the routes: `/stations/{station_id}`. */
  template: string;
  routes: ReadonlyMap<string, Route>;
  /** Value of `Allow`. */
  allow: string;
  /** Whether any key may call one of them. */
  open: boolean;
}

export interface Match {
  place: Place;
  /** Percent-decoded; null when the encoding of one of them is broken. */
  params: Record<string, string> | null;
}

export type Router = (path: string) => Match | null;

interface Pattern {
  place: Place;
  parts: string[];
}

/**
 * Finds the place of a path, written exactly as in the routes: case counts, no slash at the end.
 * A fixed part wins over a parameter (`/stations/all` over `/stations/{station_id}`).
 */
export function createRouter(routes: readonly Route[]): Router {
  const templates = [...new Set(routes.map(({ path }) => path))];
  const patterns = templates.map((template) =>
    pattern(
      template,
      routes.filter(({ path }) => path === template),
    ),
  );
  const fixedParts = ({ parts }: Pattern): number =>
    parts.filter((part) => !isParameter(part)).length;
  patterns.sort((a, b) => fixedParts(b) - fixedParts(a));
  const byLength: Pattern[][] = [];
  for (const one of patterns) (byLength[one.parts.length] ??= []).push(one);
  const fixed = new Map(
    patterns
      .filter(({ parts }) => !parts.some(isParameter))
      .map(({ place }) => [apiBase + place.template, { place, params: {} }]),
  );
  return (path) => {
    const simple = fixed.get(path);
    if (simple !== undefined) return simple;
    if (!path.startsWith(`${apiBase}/`)) return null;
    const raw = path.slice(apiBase.length + 1).split("/");
    const given = path.includes("%") ? raw.map(decodePart) : raw;
    for (const { place, parts } of byLength[raw.length] ?? [])
      if (fits(parts, given, raw)) return { place, params: paramsOf(parts, given) };
    return null;
  };
}

function pattern(template: string, routes: Route[]): Pattern {
  const methods = routes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return {
    parts: template.slice(1).split("/"),
    place: {
      template,
      routes: new Map(routes.map((route) => [route.method, route])),
      allow: [...methods, "OPTIONS"].join(", "),
      open: routes.some(({ access }) => access === "any"),
    },
  };
}

const isParameter = (part: string): boolean => part.startsWith("{");

function fits(parts: string[], given: (string | null)[], raw: string[]): boolean {
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string;
    if (isParameter(part) ? raw[i] === "" : part !== given[i]) return false;
  }
  return true;
}

function paramsOf(parts: string[], given: (string | null)[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string;
    if (!isParameter(part)) continue;
    const value = given[i];
    if (value === null || value === undefined) return null;
    params[part.slice(1, -1)] = value;
  }
  return params;
}
