import type { DemoKeys } from "#demo/demo-keys.ts";
import type { DemoOperator } from "#demo/demo-operator.ts";

interface Running {
  baseUrl: string;
  port: number;
  keys: DemoKeys;
  /** Null when its account was changed by somebody. */
  operator: DemoOperator | null;
  /** How long the start took. */
  seconds: number;
  /** An area with stations, `south,west,north,east`; by default one that the demo country has. */
  area?: string | undefined;
  /** What is to be known of the base map, if anything. */
  word: string | null;
}

// Novosibirsk's middle: every demo country and every import of Russia has stations there.
const demoArea = "54.90,82.80,55.20,83.20";

const pages = [
  ["/", "the map"],
  ["/list", "the same as a list"],
  ["/docs", "the API, described"],
  ["/dashboard/", "a partner's own page"],
  ["/console/", "the operator's page"],
  ["/api/v1/partner/openapi.json", "the API's contract"],
  ["/readyz", "how it is doing"],
] as const;

/** What a newcomer reads when everything runs: only pages that really answer, and a line that works as it stands. */
export async function screen({
  area = demoArea,
  baseUrl,
  port,
  keys,
  operator,
  seconds,
  word,
}: Running): Promise<string> {
  const shown: string[] = [];
  for (const [path, what] of pages) {
    if (await isPage(`http://127.0.0.1:${port}${path}`)) shown.push(row(what, baseUrl + path));
  }
  const note = word === null ? "" : `\n  Note: ${word}.\n`;
  return `
Fuelmark is running at ${baseUrl} (started in ${seconds.toFixed(1)} s)

${shown.map((line) => `${line}\n`).join("")}${row("secret key", keys.secret)}
${row("publishable key", keys.publishable)}${operator === null ? "" : `\n${row("console sign-in", `${operator.name} / ${operator.password}`)}`}

Stations of a city, as a partner's server asks for them:

  curl -s -H 'Authorization: Bearer ${keys.secret}' '${baseUrl}/api/v1/partner/stations?bbox=${area}'

  npm run -s operator -- --help     issue keys, import stations, review marks
  .data/logs/                       what each role says
  Ctrl-C                            stops everything; npm start goes on from there
${note}`;
}

const row = (what: string, value: string): string => `  ${`${what}:`.padEnd(22)} ${value}`;

async function isPage(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
