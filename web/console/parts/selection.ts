import type { ConsoleChoices } from "#src/contract/console.ts";
import { statusWord } from "#web/console/parts/status.tsx";
import { say } from "#web/console/words.ts";
import { utc } from "#web/kit/time.tsx";

export const keyName = ({ id, label, prefix }: ConsoleChoices["keys"][number]): string =>
  `${label === "" ? prefix : label} #${id}`;

/** The same with its partner, where it does not stand below it. */
export function keyTitle(
  key: ConsoleChoices["keys"][number],
  choices: ConsoleChoices | null,
): string {
  const partner = choices?.partners.find(({ id }) => id === key.partner_id);
  return partner === undefined
    ? keyName(key)
    : say("{partner}, key {key}", { partner: partner.name, key: keyName(key) });
}

export const partnerName = ({ id, name }: ConsoleChoices["partners"][number]): string =>
  `${name} #${id}`;

/** The conditions of a decision in words, with names where the console knows them. */
export function selectionWords(selection: object, choices: ConsoleChoices | null): string {
  const named: Record<string, (value: unknown) => string> = {
    partner: (id) => nameIn(choices?.partners, id, partnerName) ?? `#${String(id)}`,
    key: (id) =>
      nameIn(choices?.keys, id, (key) => keyTitle(key, choices)) ??
      say("key #{id}", { id: String(id) }),
    reporter: (id) => say("reporter #{id}", { id: String(id) }),
    mark: (id) => say("mark {id}", { id: String(id) }),
    station: (id) => say("station {id}", { id: String(id) }),
    city: (name) => (name === "" ? say("outside of cities") : String(name)),
    network: (hash) => say("network {network}", { network: String(hash) }),
    status: (status) => say("“{status}”", { status: statusWord(String(status)) }),
    remote: (isRemote) => (isRemote === true ? say("not at the station") : say("at the station")),
    since: (at) => say("since {time}", { time: utc(Number(at)) }),
    until: (at) => say("until {time}", { time: utc(Number(at)) }),
    firstSeenSince: (at) => say("first seen since {time}", { time: utc(Number(at)) }),
    firstSeenUntil: (at) => say("first seen until {time}", { time: utc(Number(at)) }),
  };
  return Object.entries(selection)
    .map(([field, value]: [string, unknown]) => named[field]?.(value) ?? field)
    .join(", ");
}

const nameIn = <One extends { id: number }>(
  list: readonly One[] | undefined,
  id: unknown,
  nameOf: (one: One) => string,
): string | undefined => {
  const found = list?.find((one) => one.id === id);
  return found === undefined ? undefined : nameOf(found);
};
