/**
 * True when `If-None-Match` names `etag`: weak comparison, lists and `*` (RFC 9110 13.1.2).
 * What is malformed in the list matches nothing and hinders nothing.
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
