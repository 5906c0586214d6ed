import { between } from "#src/contract/shapes/kinds.ts";
import { hash } from "node:crypto";
import { Type } from "typebox";
import { sendJson } from "#api/http/respond.ts";
import { etagOf, isUnchanged, unchanged } from "#api/stations/format.ts";
import { reply } from "#api/openapi/answers.ts";
import { cityList, cityListExample } from "#src/contract/shapes/stations.ts";
import { route } from "#api/http/route.ts";
import type { ReadDeps } from "#api/stations/deps.ts";

const query = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 120, default: "", description: "Search by name" })),
  limit: Type.Optional(between("Cities of one answer", 1, 200, 50)),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: "Cities to leave out" }),
  ),
});

/** GET /cities, docs/contract.md 4.5. */
export const citiesRoute = (services: ReadDeps) =>
  route({
    method: "GET",
    path: "/cities",
    access: "any",
    summary: "Cities by population or by match",
    answers: {
      operationId: "listCities",
      tag: "Stations",
      description:
        "By population; with `q` names that begin with it, then names that hold it. Case and ё/е are ignored.",
      replies: {
        200: { ...reply("The cities", cityList, cityListExample), headers: ["ETag"] },
        ...unchanged(),
      },
      takes: ["If-None-Match"],
    },
    query,
    handle(ctx) {
      const { q = "", limit = 50, offset = 0 } = ctx.state.query;
      const { cities, total } = services.cities.list({ q, offset, limit });
      const body = Buffer.from(JSON.stringify({ cities, count: cities.length, total }));
      const sum = hash("sha1", body);
      const etag = etagOf(ctx, { route: "/cities", query: [], count: cities.length, sum });
      const asOfMs = services.asOf(services.clock());
      if (!isUnchanged(ctx, etag, asOfMs)) sendJson(ctx, body);
    },
  });
