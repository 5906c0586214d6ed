import type { ConsoleChoices } from "#src/contract/console.ts";
import { statusWord } from "#web/console/parts/status.tsx";
import { utc } from "#web/kit/time.tsx";

export const keyName = ({ id, label, prefix }: ConsoleChoices["keys"][number]): string =>
  `${label === "" ? prefix : label} #${id}`;

/** The same with its partner, where it does not stand below it. */
export function keyTitle(
  key: ConsoleChoices["keys"][number],
  choices: ConsoleChoices | null,
): string {
  const partner = choices?.partners.find(({ id }) => id === key.partner_id);
  return partner === undefined ? keyName(key) : `${partner.name}, key ${keyName(key)}`;
}

export const partnerName = ({ id, name }: ConsoleChoices["partners"][number]): string =>
  `${name} #${id}`;

/** The conditions of a decision in words, with names where the console knows them. */
export function selectionWords(selection: object, choices: ConsoleChoices | null): string {
  const named: Record<string, (value: unknown) => string> = {
    partner: (id) => nameIn(choices?.partners, id, partnerName),
    key: (id) => nameIn(choices?.keys, id, (key) => keyTitle(key, choices), "key "),
    reporter: (id) => `reporter #${String(id)}`,
    station: (id) => `station ${String(id)}`,
    city: (name) => (name === "" ? "outside of cities" : String(name)),
    network: (hash) => `network ${String(hash)}`,
    status: (status) => `“${statusWord(String(status))}”`,
    remote: (isRemote) => (isRemote === true ? "not at the station" : "at the station"),
    since: (at) => `since ${utc(Number(at))}`,
    until: (at) => `until ${utc(Number(at))}`,
    firstSeenSince: (at) => `first seen since ${utc(Number(at))}`,
    firstSeenUntil: (at) => `first seen until ${utc(Number(at))}`,
  };
  return Object.entries(selection)
    .map(([field, value]: [string, unknown]) => named[field]?.(value) ?? field)
    .join(", ");
}

const nameIn = <One extends { id: number }>(
  list: readonly One[] | undefined,
  id: unknown,
  nameOf: (one: One) => string,
  noun = "",
): string => {
  const found = list?.find((one) => one.id === id);
  return found === undefined ? `${noun}#${String(id)}` : nameOf(found);
};
