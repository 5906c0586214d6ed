import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { startRoleProcess } from "#test/harness/processes.ts";
import { useStage } from "#test/flow/stage.ts";
import { use } from "#test/harness/use.ts";

interface SentSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
}

const serverKind = 2;
const consumerKind = 5;

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

describe("flow: traces", function () {
  const spans: SentSpan[] = [];
  let sent = "";
  // A collector, as far as OTLP in JSON goes.
  const collector = use(
    async () => {
      const server = createServer((req, res) => {
        void json(req).then((body) => {
          sent += `${req.url} ${JSON.stringify(body)}`;
          // oxlint-disable-next-line typescript/no-explicit-any -- OTLP has a shape of its own
          for (const { resource, scopeSpans } of (body as any).resourceSpans)
            for (const { spans: some } of scopeSpans)
              for (const span of some)
                spans.push({
                  ...span,
                  service: valuesOf(resource.attributes)["service.name"],
                  attributes: valuesOf(span.attributes),
                });
          res.setHeader("Content-Type", "application/json").end("{}");
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return { server, port: (server.address() as AddressInfo).port };
    },
    ({ server }) => server.close(),
  );
  const settings = () => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    OTEL_BSP_SCHEDULE_DELAY: "100",
  });
  const { client } = useStage(3, ["web", "marks"], settings, startRoleProcess);

  it("follow a mark from its request to the worker, and say nothing of people and places", async () => {
    const [trace, parent] = [16, 8].map((bytes) => randomBytes(bytes).toString("hex"));
    const place = placeOf(1);
    const path = `/stations/${place.id}/report`;
    const mark = { status: "yes", user_ref: "canary-user", lat: place.lat, lon: place.lon };
    const headers = { traceparent: `00-${trace}-${parent}-01` };
    const answer = await client.post(path, { ...mark, comment: "canary-words" }, headers);
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 202]);
    await until(
      async () => spans.filter(({ traceId }) => traceId === trace),
      ({ length }) => length >= 2,
    );
    const own = spans.filter(({ traceId }) => traceId === trace);
    const server = own.find(({ kind }) => kind === serverKind)!;
    const route = "/api/v1/partner/stations/{station_id}/report";
    expect([server.service, server.name, server.parentSpanId]).to.deep.equal([
      "fuelmark-web",
      `POST ${route}`,
      parent,
    ]);
    expect(server.attributes).to.deep.equal({
      "http.request.method": "POST",
      "http.response.status_code": answer.status,
      "http.route": route,
      "fuelmark.request_id": answer.headers.get("x-request-id"),
    });
    const worker = own.find(({ kind }) => kind === consumerKind)!;
    expect([worker.service, worker.name, worker.parentSpanId]).to.deep.equal([
      "fuelmark-marks",
      "process marks",
      server.spanId,
    ]);
    expect(worker.attributes["messaging.destination.name"]).to.equal("marks");

    // Not sampled by its sender, then without a trace, then with one that is none.
    await client.get("/cities", { traceparent: `00-${trace}-${parent}-00` });
    await client.get("/stations?q=canary-query&lat=55.1234&lon=37.1234&radius=900");
    await client.get("/cities", { traceparent: "00-canary" });
    const isCities = ({ name }: SentSpan): boolean => name === "GET /api/v1/partner/cities";
    await until(
      async () => spans.filter(isCities),
      ({ length }) => length > 0,
    );
    expect(spans.filter(isCities).map(({ parentSpanId }) => parentSpanId ?? "")).to.eql([""]);
    expect(spans.filter(({ traceId }) => traceId === trace)).to.have.length(2);
    expect(sent).to.contain("/v1/traces");
    expect(sent).not.to.match(/canary|37\.12|55\.12|svc_live|127\.0\.0\.1/);
  });
});
