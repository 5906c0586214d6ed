import { setTimeout as sleep } from "node:timers/promises";
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  type Context,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
} from "@opentelemetry/sdk-trace-base";
import { minuteMs } from "#src/domain/units.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { Tracer } from "#src/infrastructure/tracing.ts";

const closeMs = 2000;
const kinds = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER };

/** Loaded only when there is an endpoint. Sampling, batches and headers follow the standard `OTEL_…` variables. */
export function createTracer(endpoint: string, role: string, log: Log): Tracer {
  const own = resourceFromAttributes({ "service.name": `fuelmark-${role}` });
  const provider = new BasicTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor(telling(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }), log)),
    ],
  });
  const tracer = provider.getTracer("fuelmark");
  return {
    start(kind, name, parent) {
      const span = tracer.startSpan(name, { kind: kinds[kind] }, contextOf(parent));
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-0${traceFlags & 1}`,
        rename: (to) => void span.updateName(to),
        end(attributes, error) {
          span.setAttributes(attributes);
          if (error !== null) {
            span.setAttribute("error.type", error);
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        },
      };
    },
    close: () => Promise.race([provider.shutdown().catch(() => undefined), sleep(closeMs)]),
  };
}

/** The parent of a header `00-<trace>-<span>-<flags>`; any other text gives no parent. */
function contextOf(traceparent: string | undefined): Context {
  const found = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/.exec(
    traceparent ?? "",
  );
  if (found === null) return ROOT_CONTEXT;
  const [, traceId = "", spanId = "", flags = ""] = found;
  const parent = { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** Logs once a minute that traces do not arrive, which the library does not. */
function telling(exporter: SpanExporter, log: Log): SpanExporter {
  let toldAt = -Infinity;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined) {
          const isNews = performance.now() - toldAt > minuteMs;
          if (isNews) toldAt = performance.now();
          log[isNews ? "warn" : "debug"]({ err: result.error.message }, "traces not delivered");
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
