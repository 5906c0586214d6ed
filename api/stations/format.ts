import { Readable } from "node:stream";
import { presentList } from "#api/stations/presenters.ts";
import { sendJsonSlices } from "#api/http/respond.ts";
import type { Form } from "#api/openapi/answers.ts";
import type { HeaderName } from "#api/openapi/headers.ts";
import { station, stationExample } from "#src/contract/shapes/stations.ts";
import type { ApiContext } from "#api/http/route.ts";
import type { ListRest } from "#snapshots/model/envelope.ts";
import { type Format, forms, written } from "#snapshots/model/forms.ts";
import type { Answer } from "#snapshots/model/queries.ts";
import { formatTime, staleAfterHours } from "#src/domain/time.ts";

/** The forms in which a list of stations is given out (docs/decisions.md 7), the preferred one first. */
const mediaTypes: Record<Format, string> = {
  json: "application/json",
  geojson: "application/geo+json",
  ndjson: "application/x-ndjson",
};

/** The form that the `Accept` header asks for (RFC 9110 12.5.1). JSON when nothing fits. */
export function pickFormat(ctx: Pick<ApiContext, "accepts">): Format {
  const type = ctx.accepts(...Object.values(mediaTypes));
  return formats.find((format) => mediaTypes[format] === type) ?? "json";
}

const formats = Object.keys(mediaTypes) as Format[];

/** Sets the headers of a list in that form. NDJSON has no envelope: there its fields are headers. */
export function setFormat(ctx: ApiContext, format: Format, rest: ListRest): void {
  if (format === "json") return;
  ctx.type = mediaTypes[format];
  if (format !== "ndjson") return;
  ctx.set({
    "X-Count": String(rest.count),
    "X-As-Of": formatTime(rest.asOfMs),
    "X-Stale-After-Hours": String(staleAfterHours(rest.lifetimeMs)),
    "X-Truncated": String(rest.truncated),
    ...(rest.nextCursor ? { "X-Next-Cursor": rest.nextCursor } : {}),
  });
}

/** Sends a list of stations in that form; what is not JSON is written in small pieces as fast as the caller takes them. */
export function sendAs(ctx: ApiContext, format: Format, answer: Answer, rest: ListRest): void {
  if (format === "json") return sendJsonSlices(ctx, presentList(answer.pieces(), rest));
  setFormat(ctx, format, rest);
  ctx.body = Readable.from(written(forms[format], [...answer.sources()], rest), {
    objectMode: false,
  });
}

/** NDJSON in the OpenAPI document, and the headers that hold its envelope. */
export const lineForm: Record<string, Form> = {
  "application/x-ndjson": { schema: station, example: stationExample },
};
export const lineHeaders: readonly HeaderName[] = [
  "X-Count",
  "X-As-Of",
  "X-Stale-After-Hours",
  "X-Truncated",
];
