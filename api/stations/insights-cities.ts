import { between } from "#src/contract/shapes/kinds.ts";
import { hash } from "node:crypto";
import { Type } from "typebox";
import { refused } from "#api/http/errors.ts";
import { sendJson } from "#api/http/respond.ts";
import { route } from "#api/http/route.ts";
import type { ReadDeps } from "#api/stations/deps.ts";
import { reply } from "#api/openapi/answers.ts";
import { etagOf, isUnchanged, unchanged } from "#api/stations/format.ts";
import { daysTextOf, figuresNow, figuresOfCountry } from "#snapshots/insights/figures.ts";
import { cityInsights, insightsExample } from "#src/contract/shapes/insights.ts";
import { noCounts } from "#src/domain/insights.ts";
import { formatTime } from "#src/domain/time.ts";
import { insightDaysMax } from "#src/marks/insight-days.ts";

const daysDefault = 7;
const limitDefault = 50;

const query = Type.Object({
  city: Type.Optional(
    Type.String({ maxLength: 120, default: "", description: "Name of the only city wanted" }),
  ),
  days: Type.Optional(between("Days, today included", 1, insightDaysMax, daysDefault)),
  limit: Type.Optional(between("Cities of one answer", 1, 200, limitDefault)),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: "Cities to leave out" }),
  ),
});

/** GET /insights/cities, decisions 7.44. */
export const cityInsightsRoute = ({ insights, cities }: ReadDeps) =>
  route({
    method: "GET",
    path: "/insights/cities",
    access: "any",
    summary: "Stations by city, status, grade and day",
    answers: {
      operationId: "listCityInsights",
      tag: "Stations",
      description:
        "How many stations of each city lack fuel: now, by status and grade, and by day, by status. A station belongs to the nearest city within 25 km. Counted once a minute.",
      replies: {
        200: {
          ...reply("The country and its cities, by population", cityInsights, insightsExample),
          headers: ["ETag"],
        },
        ...unchanged(),
      },
      problems: ["city-not-found"],
      takes: ["If-None-Match"],
    },
    query,
    async handle(ctx) {
      const { city: name = "", days = daysDefault } = ctx.state.query;
      const { limit = limitDefault, offset = 0 } = ctx.state.query;
      const sought = name.trim() === "" ? null : cities.find(name);
      if (name.trim() !== "" && sought === null) throw refused("city-not-found");
      const latest = await insights.get();
      if (latest === null) throw refused("upstream-unavailable", notYet, { retryAfterS: 5 });
      const { asOfMs, counts } = latest;
      const all = latest.cities.filter(
        ({ lat, lon }) => sought === null || (lat === sought.lat && lon === sought.lon),
      );
      const shown = all.slice(offset, offset + limit);
      const count = shown.length;
      const daysOf = daysTextOf(latest, days);
      const texts = shown.map(({ id, ...city }) => {
        const now = JSON.stringify({ ...city, ...figuresNow(counts[id] ?? noCounts()) });
        return `${now.slice(0, -1)},"days":${daysOf(id)}}`;
      });
      const country = JSON.stringify(figuresOfCountry(latest, days));
      const content = Buffer.from(
        `{"country":${country},"cities":[${texts.join()}],"count":${count},"total":${all.length}`,
      );
      const sum = hash("sha1", content);
      const etag = etagOf(ctx, { route: "/insights/cities", query: [], count, sum });
      if (!isUnchanged(ctx, etag, asOfMs))
        sendJson(ctx, [content, Buffer.from(`,"as_of":"${formatTime(asOfMs)}"}`)]);
    },
  });

const notYet = "The figures are counted once a minute and are not there yet: retry.";
