import type { Transform } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";

export type Encoding = "br" | "gzip" | "identity";

/**
 * The encoding to answer with, of those `offered` (best first) and `identity` (RFC 9110 12.5.3). The highest q-value
 * wins; between equals the one offered first, and any offered one before `identity`, unless the caller ranks it.
 * When nothing fits, the answer is sent as it is.
 */
export function pickEncoding(
  header: string | undefined,
  offered: readonly Encoding[] = ["br", "gzip"],
): Encoding {
  if (header === undefined || header === "") return "identity";
  const weights = weightsOf(header);
  const any = weights.get("*") ?? 0;
  const weigh = (encoding: Encoding): number =>
    weights.get(encoding) ?? (encoding === "gzip" ? weights.get("x-gzip") : undefined) ?? any;
  let best: Encoding = "identity";
  // Identity is always allowed, but asked for only when it is named.
  let bestWeight = weights.get("identity") ?? 0;
  for (const encoding of offered) {
    const weight = weigh(encoding);
    if (weight <= 0) continue;
    if (weight > bestWeight || (best === "identity" && weight === bestWeight)) {
      [best, bestWeight] = [encoding, weight];
    }
  }
  return best;
}

/** True when the header forbids an answer as it is: `identity;q=0`, or `*;q=0` without a word on identity. */
export function refusesIdentity(header: string | undefined): boolean {
  if (header === undefined || !header.includes("0")) return false;
  const weights = weightsOf(header);
  return (weights.get("identity") ?? weights.get("*")) === 0;
}

const lately = new Map<string, Map<string, number>>();
const remembered = 500;

/** There are few different headers, and one comes with every request. */
function weightsOf(header: string): Map<string, number> {
  let weights = lately.get(header);
  if (weights === undefined) {
    if (lately.size >= remembered) lately.clear();
    lately.set(header, (weights = readWeights(header)));
  }
  return weights;
}

function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    if (name === "") continue;
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const weight = q === undefined ? 1 : Number(q.slice(q.indexOf("=") + 1).trim());
    weights.set(name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

/** Compresses a stream: fast levels, off the main thread. */
export function coderOf(encoding: "br" | "gzip"): Transform {
  if (encoding === "gzip") return createGzip({ level: 1 });
  return createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
}

/** Compresses a small answer: fast levels, off the main thread. */
export function compress(body: Buffer, encoding: "br" | "gzip"): Promise<Buffer> {
  if (encoding === "gzip") return toGzip(body, { level: 1 });
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  return toBrotli(body, { params });
}
