import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { pickEncoding } from "#api/http/encoding.ts";
import type { Context } from "#api/http/context.ts";

/**
 * True when `If-None-Match` names `etag`: weak comparison, lists and `*` (RFC 9110 13.1.2).
 * A malformed part of the list is ignored.
 */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  if (ifNoneMatch.trim() === "*") return true;
  const wanted = opaque(etag);
  // An entity tag may hold commas, so tags are picked out and not split apart.
  for (const [tag] of ifNoneMatch.matchAll(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g)) {
    if (opaque(tag) === wanted) return true;
  }
  return false;
}

const opaque = (tag: string): string => (tag.startsWith("W/") ? tag.slice(2) : tag);

/** A file in memory, as it is and as gzip. */
export interface PackedFile {
  /** As `ctx.type` takes it. */
  type: string;
  plain: Buffer;
  gzip: Buffer;
  etag: string;
}

/** Packs a file. Its ETag is a hash of its bytes, weak when `prefix` says so. */
export function packFile(type: string, plain: Buffer, prefix: "" | "W/" = ""): PackedFile {
  const etag = `${prefix}"${hash("sha1", plain, "base64url").slice(0, 22)}"`;
  return { type, plain, gzip: gzipSync(plain), etag };
}

/** Answers with the file: as gzip to callers that take it, 304 to those that have it. */
export function sendPacked(ctx: Context, file: PackedFile): void {
  ctx.set("ETag", file.etag);
  if (matchesEtag(ctx.headers["if-none-match"], file.etag)) {
    ctx.status = 304;
    return;
  }
  const isGzip = pickEncoding(ctx.get("Accept-Encoding"), ["gzip"]) === "gzip";
  if (isGzip) ctx.set("Content-Encoding", "gzip");
  ctx.type = file.type;
  ctx.body = isGzip ? file.gzip : file.plain;
}
