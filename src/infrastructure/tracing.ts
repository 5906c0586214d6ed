import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";

/** Names of OpenTelemetry's semantic conventions; no data about people, places or the content of requests. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** A piece of work in a trace. */
export interface Span {
  /** The header by which other work becomes a part of this one. */
  traceparent: string;
  /** `error`: the kind of the fault, such as a status or the name of a class; null when the work succeeded. */
  end(attributes: SpanAttributes, error: string | null): void;
  rename(name: string): void;
}

export interface Tracer {
  /** `parent`: a `traceparent` header; an invalid one begins a new trace. */
  start(kind: "server" | "consumer", name: string, parent: string | undefined): Span;
  /** Sends the remaining spans, but only for a moment. */
  close(): Promise<void>;
}

/**
 * The traces of this process, sent to `OTEL_EXPORTER_OTLP_ENDPOINT` (decisions 16.36). Null without one, and then
 * OpenTelemetry is not loaded.
 */
export async function openTracer(config: Config, role: string, log: Log): Promise<Tracer | null> {
  if (config.otelExporterOtlpEndpoint === "") return null;
  const { createTracer } = await import("#src/infrastructure/tracing-sdk.ts");
  return createTracer(config.otelExporterOtlpEndpoint, role, log);
}

/** Runs work of several traces, as a span of each. */
export async function inTraces<T>(
  tracer: Tracer | null,
  parents: readonly string[],
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  if (tracer === null || parents.length === 0) return work();
  const spans = parents.map((parent) => tracer.start("consumer", name, parent));
  const end = (error: string | null): void => {
    for (const span of spans) span.end(attributes, error);
  };
  try {
    const result = await work();
    end(null);
    return result;
  } catch (error) {
    end((error as Error).constructor.name);
    throw error;
  }
}
