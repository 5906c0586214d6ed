import { useCallback, useEffect, useState } from "preact/hooks";
import type { ConsoleChoices, ConsoleStation } from "#src/contract/console.ts";
import type { ConsoleNetwork } from "#src/contract/console-review.ts";
import { api } from "#web/console/api.ts";
import { fitting, type Found, Picker, type PickerOption } from "#web/console/parts/picker.tsx";
import { say } from "#web/console/words.ts";
import { utc } from "#web/kit/time.tsx";

// Pickers for the conditions of a selection, by names (decisions 13.24). "" is any, except for a city.

interface Props {
  value: string;
  onChange: (value: string) => void;
}

/** A station by its name, brand, address or id. */
export function StationPicker({
  value,
  onChange,
  label = say("Station"),
}: Props & { label?: string }) {
  const [known, setKnown] = useState<PickerOption | null>(null);
  useEffect(() => {
    // An address names a station by its id alone.
    if (value === "" || known?.value === value) return undefined;
    let isCurrent = true;
    void findStations(value).then((found) => {
      const option = found?.find((one) => one.value === value);
      if (isCurrent && option !== undefined) setKnown(option);
    });
    return () => {
      isCurrent = false;
    };
  }, [value]);
  return (
    <Picker
      label={label}
      value={value === "" ? null : value}
      text={known?.value === value ? `${known.text} (${value})` : value}
      find={findStations}
      onChange={(option) => {
        setKnown(option);
        onChange(option?.value ?? "");
      }}
    />
  );
}

async function findStations(typed: string): Promise<Found> {
  const path = `/stations?q=${encodeURIComponent(typed)}`;
  const answer = await api.get<{ stations: ConsoleStation[] }>(path);
  if (answer.failure !== undefined) return null;
  return answer.value.stations.map(({ id, name, brand, addr, removed }) => ({
    value: id,
    text: name || brand || id,
    detail: [brand === name ? "" : brand, addr, id, removed ? say("out of service") : ""]
      .filter((part) => part !== "")
      .join(", "),
  }));
}

const nowhere: PickerOption = { value: "", text: say("outside of cities") };

/** A city that the review counts stations to; null for any, "" for none of them. */
export function CityPicker({
  value,
  choices,
  onChange,
}: {
  value: string | null;
  choices: ConsoleChoices | null;
  onChange: (value: string | null) => void;
}) {
  const find = useCallback(
    (typed: string): Found => {
      if (choices === null) return null;
      const names = choices.cities.map((name) => ({ value: name, text: name }));
      return fitting([nowhere, ...names], typed);
    },
    [choices],
  );
  return (
    <Picker
      label={say("City")}
      value={value}
      text={value === "" ? nowhere.text : (value ?? "")}
      find={find}
      onChange={(option) => onChange(option?.value ?? null)}
    />
  );
}

const networkForm = /^[0-9a-f]{8,64}$/;

/** A viewers' network by the beginning of its hash: one that the console names somewhere, or another as it is. */
export function NetworkPicker({ value, onChange }: Props) {
  return (
    <Picker
      label={say("Network of the map")}
      hint={say("By its first digits, as alarms and groups name it")}
      value={value === "" ? null : value}
      text={value}
      find={findNetworks}
      accept={(typed) => (networkForm.test(typed.toLowerCase()) ? typed.toLowerCase() : null)}
      onChange={(option) => onChange(option?.value ?? "")}
    />
  );
}

async function findNetworks(typed: string): Promise<Found> {
  const answer = await api.get<{ networks: ConsoleNetwork[] }>("/networks");
  if (answer.failure !== undefined) return null;
  const options = answer.value.networks.map((one) => ({
    value: one.network,
    text: one.network,
    detail: networkWords(one),
  }));
  return fitting(options, typed);
}

const networkWords = ({ held, alarm, blocked }: ConsoleNetwork): string =>
  [
    held > 0 ? say("{n} held", { n: held }) : "",
    alarm === null ? "" : say("alarm {time}", { time: utc(alarm) }),
    blocked === null ? "" : say("blocked until {time}", { time: utc(blocked) }),
  ]
    .filter((part) => part !== "")
    .join(", ");
