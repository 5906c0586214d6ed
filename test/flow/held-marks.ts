import type { Client } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";

/**
 * A source's hour after which the review holds what newcomers say: 20 of them say `no`, each at a station of
 * its own, from `first` on. Gives the number of the next free station.
 */
export async function fillReview(client: Client, first: number): Promise<number> {
  const marks = Array.from({ length: 20 }, (_, n) =>
    client.mark(placeOf(first + n), `newcomer-${first + n}`, { status: "no" }),
  );
  const outcomes = (await Promise.all(marks)).map(({ body }) => body.published?.outcome as string);
  if (outcomes.includes("held")) throw new Error(`held too early: ${outcomes.join(", ")}`);
  return first + 20;
}

/** A newcomer's `no` that is held; gives the mark's id. */
export async function holdMark(client: Client, place: number, body: object = {}): Promise<string> {
  const held = await client.mark(placeOf(place), `held-${place}`, { status: "no", ...body });
  if (held.body.published?.outcome !== "held") throw new Error(JSON.stringify(held.body));
  return String(held.body.report_id);
}
