import type { IncomingMessage } from "node:http";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import { parseBody } from "#src/contract/json-body.ts";

export const bodyLimitDefault = 64 * 1024;

export type ReadBody = { value: unknown; refused?: never } | { refused: Refusal };

/** Reads and parses a JSON body of at most `limit` bytes; refuses with 415, 413 or 422 (decisions.md 9). */
export async function readBody(req: IncomingMessage, limit: number): Promise<ReadBody> {
  const type = req.headers["content-type"];
  if (type !== undefined && !isJson(type)) return unsupported;
  if ((req.headers["content-encoding"] ?? "identity").trim().toLowerCase() !== "identity") {
    return unsupported;
  }
  if (Number(req.headers["content-length"] ?? 0) > limit) return tooLarge(limit);
  const bytes = await collect(req, limit);
  if (bytes === "too large") return tooLarge(limit);
  if (bytes === "broken off") {
    return invalid([{ loc: ["body"], msg: "Body ended too early", type: "incomplete" }]);
  }
  if (type === undefined && bytes.length > 0) return unsupported;
  const parsed = parseBody(bytes);
  return parsed.faults === undefined ? { value: parsed.value } : invalid(parsed.faults);
}

function isJson(contentType: string): boolean {
  const [type = "", ...parameters] = contentType
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice(8);
  return (
    type === "application/json" && /^("?)utf-?8\1$/.test(charset === undefined ? "utf-8" : charset)
  );
}

const unsupported: ReadBody = {
  refused: refuse(
    "unsupported-media-type",
    "Send `Content-Type: application/json` in UTF-8 and no Content-Encoding.",
  ),
};

const tooLarge = (limit: number): ReadBody => ({
  refused: refuse("body-too-large", `A body of this call may have ${limit} bytes.`),
});

const invalid = (faults: Refusal["detail"]): ReadBody => ({
  refused: refuse("validation-failed", faults),
});

/** Events, not iteration: leaving an iteration early would close the socket before the answer is out. */
function collect(
  req: IncomingMessage,
  limit: number,
): Promise<Buffer | "too large" | "broken off"> {
  if (req.destroyed && !req.complete) return Promise.resolve("broken off");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        req.off("data", onData);
        // The rest is read and thrown away, so that the caller gets to see the answer.
        req.resume();
        resolve("too large");
      }
    };
    req.on("data", onData);
    req.once("end", () => resolve(Buffer.concat(chunks)));
    req.once("error", () => resolve("broken off"));
    req.once("close", () => resolve("broken off"));
  });
}
