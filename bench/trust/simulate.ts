import type { Admission } from "#src/domain/admit.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Country } from "#bench/trust/country.ts";
import { createProduct, type PartnerLimits } from "#bench/trust/product.ts";
import { createTimelines, type Timelines } from "#bench/trust/timeline.ts";
import type { SentMark, Traffic } from "#bench/trust/traffic.ts";

/** A mark, and what the product answered. */
export interface Answered {
  sent: SentMark;
  admission: Admission & { told?: boolean };
}

export interface Run {
  answered: readonly Answered[];
  timelines: Timelines;
}

/** Sends all the traffic through the product's rules, in order of time, and follows what is served until `until`, ms. */
export function simulate(
  country: Country,
  config: Config,
  traffic: Traffic,
  until: number,
  limits?: PartnerLimits,
): Run {
  const product = createProduct(country, config, traffic.known, limits);
  const from = traffic.marks[0]?.at ?? 0;
  const timelines = createTimelines(country.stations.length, from, config.statusLifetimeMs);
  const answered = traffic.marks.map((sent): Answered => {
    const admission = product.send(sent);
    if (admission.kind === "accepted" && admission.review === "none")
      timelines.note(sent.station, sent.at, product.stateOf(sent.station));
    return { sent, admission };
  });
  return { answered, timelines: timelines.finish(until) };
}
