import { createRandom } from "#demo/country/random.ts";
import type { Country } from "#bench/country.ts";

const statuses = [
  ["yes", 50],
  ["low", 15],
  ["queue", 15],
  ["no", 20],
] as const;
// One in so many marks comes from somebody new; the others have been seen before.
const newcomerEvery = 20;

/** Writes the HTTP requests of several partners that forward their users' marks: each user and external id once. */
export function createForward(country: Country, seed: number): (host: string) => string {
  const random = createRandom(seed);
  const { stations, keys, users } = country;
  let sent = 0;

  const statement = (status: string): object => {
    const grades = ["92", "95", "ДТ"].filter(() => random.chance(0.6));
    if (status === "no") return { fuels_no: grades.length > 0 ? grades : ["92"] };
    const fuels = grades.length > 0 ? grades : ["95"];
    return {
      fuels,
      ...(status === "queue" ? { queue: "5-10" } : {}),
      ...(random.chance(0.3) ? { prices: { [fuels[0]!]: random.int(5500, 7500) / 100 } } : {}),
    };
  };

  return (host) => {
    const n = sent++;
    if (users > 0 && n >= users)
      throw new Error(`only ${users} users are known: fewer or shorter rounds`);
    // A step that shares no factor with the number of stations visits all before it comes back to one.
    const place = users > 0 ? (n * 7919) % stations.length : random.int(0, stations.length - 1);
    const station = stations[place]!;
    const status = random.weighted(statuses.map(([name, weight]) => [name, weight]));
    const body = JSON.stringify({
      status,
      user_ref: users === 0 || n % newcomerEvery === 0 ? `new-${n}` : `user-${n}`,
      lat: station.lat + random.int(-100, 100) / 1e5,
      lon: station.lon + random.int(-100, 100) / 1e5,
      acc_m: random.int(5, 60),
      external_id: `mark-${n}`,
      ...statement(status),
    });
    // Users belong to partners in turn: user n is the partner's whose key sends its mark.
    return [
      `POST /api/v1/partner/stations/${station.id}/report HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${keys[n % keys.length]}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n");
  };
}
