import type { Tag } from "#api/openapi/answers.ts";

/** The Info Object. The version is docs/contract.md 9. */
export const about = {
  title: "Partner Fuel-Availability API",
  version: "1.0",
  license: { name: "MIT", identifier: "MIT" },
  description: `Which filling stations have fuel, from the marks of drivers.

**Keys.** Every request carries \`Authorization: Bearer <KEY>\`. Secret keys may call everything, publishable keys what the widget needs.

**Limits.** By clock minute and UTC day; every answer says what is left. After 429 wait \`Retry-After\` seconds.

**Errors.** Always \`application/problem+json\` (RFC 9457). The last part of \`type\` is the code, \`request_id\` finds the operator's log line. There is no 400: what cannot be read is 422. An unknown path is 404 \`not-found\`.

**HEAD** answers wherever GET does, with the same headers and no body.

**Times** are UTC, \`YYYY-MM-DD HH:MM:SS\`.

**Versions.** New fields and values may appear at any time; breaking changes come under a new prefix, announced 180 days ahead with \`Deprecation\` and \`Sunset\`.`,
};

const descriptions: Record<Tag, string> = {
  Stations: "Stations with their fuel status, and cities.",
  Marks: "Marks of your users, and what became of them.",
  Account: "What you have used, and your limits.",
  Widget: "What the embedded map calls with a publishable key.",
};

export const tags = Object.entries(descriptions).map(([name, description]) => ({
  name,
  description,
}));
