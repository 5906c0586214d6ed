import { Button } from "#web/kit/button.tsx";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ConsolePair, ConsolePairStation } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { useKeys } from "#web/console/parts/use-keys.ts";
import { metres, niceBelow } from "#web/console/parts/mini-map.tsx";
import { say, sayWith, type Text } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";

const shownMost = 50;

type Verb = "merge" | "keep-apart";
const idOf = ({ station, into }: ConsolePair): string => `${station.id} ${into.id}`;

/** Pairs of stations that may be one, decided with one key each (decisions 14.31). */
export function PairsPage() {
  const loading = useLoaded<{ pairs: ConsolePair[] }>("/station-pairs");
  const [merged, setMerged] = useState<ConsolePair | null>(null);
  const doing = useDoing();
  // It stands in the list until that has been read again: a second key must not decide it twice.
  const [decided, setDecided] = useState<ConsolePair | null>(null);
  const pairs = (loading.value.value?.pairs ?? []).filter(
    ({ station, into }) => station.id !== decided?.station.id || into.id !== decided.into.id,
  );
  const shown = pairs.slice(0, shownMost);
  const decide = async (verb: Verb, pair: ConsolePair): Promise<void> => {
    const { station, into } = pair;
    const words =
      verb === "merge" ? "" : say("Kept apart: {a} and {b}", { a: station.id, b: into.id });
    const path = `/stations/${encodeURIComponent(station.id)}/${verb}`;
    const done = await doing.run(words, "POST", path, { other: into.id });
    if (done !== null) {
      setMerged(verb === "merge" ? pair : null);
      setDecided(pair);
    }
    await loading.load();
  };
  const undo = async (): Promise<void> => {
    if (merged === null) return;
    const path = `/stations/${encodeURIComponent(merged.station.id)}/split`;
    await doing.run(say("The two are apart again"), "POST", path);
    setMerged(null);
    setDecided(null);
    await loading.load();
  };
  const [current] = useKeys(shown.length, (letter, n, { repeat }) => {
    const verb = { m: "merge", s: "keep-apart" }[letter] as Verb | undefined;
    if (verb === undefined || !mayChange() || repeat || doing.busy) return false;
    void decide(verb, shown[n]!);
    return true;
  });
  return (
    <section>
      <h1>{say("Pairs")}</h1>
      <p class="soft">
        {say(
          "Stations of two sources that may be one. Imports leave them as two until somebody decides.",
        )}
      </p>
      {shown.length > 0 && mayChange() && (
        <p class="soft">
          {sayWith("Keys: {j} next, {k} previous, {m} one station, {s} two stations.", {
            j: <kbd>j</kbd>,
            k: <kbd>k</kbd>,
            m: <kbd>m</kbd>,
            s: <kbd>s</kbd>,
          })}
        </p>
      )}
      <Fault words={doing.fault} />
      {merged !== null && (
        <p class="banner good" role="status">
          {say("{a} is a part of {b} now.", { a: merged.station.id, b: merged.into.id })}{" "}
          <Button words={say("Undo")} disabled={doing.busy} onClick={undo} />
        </p>
      )}
      <Loaded of={loading}>
        {() => (
          <>
            {pairs.length === 0 && <p class="empty">{say("No pairs wait for a decision.")}</p>}
            {shown.map((pair, n) => (
              <Pair
                key={idOf(pair)}
                pair={pair}
                current={n === current}
                busy={doing.busy}
                decide={(verb) => void decide(verb, pair)}
              />
            ))}
            {pairs.length > shown.length && (
              <p class="soft">
                {say("These are the first {n} of {all}.", {
                  n: String(shown.length),
                  all: String(pairs.length),
                })}
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

interface Props {
  pair: ConsolePair;
  current: boolean;
  busy: boolean;
  decide: (verb: Verb) => void;
}

function Pair({ pair, current, busy, decide }: Props) {
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    if (current) article.current?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const { station, into, distance_m: distance, evidence } = pair;
  return (
    <article
      ref={article}
      class={current ? "card held-group current" : "card held-group"}
      aria-current={current ? "true" : undefined}
    >
      <h2>{say("{distance} apart", { distance: metres(distance) })}</h2>
      <div class="two-stations">
        <PairMap pair={pair} />
        <div>
          <Side letter="A" station={station} />
          <Side letter="B" station={into} />
          <p class="soft">{evidence.map((one) => say(one as Text)).join(" · ")}</p>
        </div>
      </div>
      {mayChange() && (
        <div class="buttons">
          <Button of={idOf(pair)} class="primary" disabled={busy} onClick={() => decide("merge")}>
            {say("One station")}
          </Button>
          <Button of={idOf(pair)} disabled={busy} onClick={() => decide("keep-apart")}>
            {say("Two stations")}
          </Button>
        </div>
      )}
    </article>
  );
}

const Side = ({ letter, station }: { letter: string; station: ConsolePairStation }) => (
  <p>
    <strong>{letter}</strong>{" "}
    <a href={`#/stations/${encodeURIComponent(station.id)}`}>
      {station.name || station.brand || station.id}
    </a>
    {[station.brand, station.addr].filter(Boolean).map((text) => ` · ${text}`)}{" "}
    <span class="soft">
      <code>{station.id}</code> · {say("from {source}", { source: station.source })}
    </span>
  </p>
);

const half = 100;

/** The two stations in metres around their middle. North is up. */
function PairMap({ pair: { station, into, distance_m: distance } }: { pair: ConsolePair }) {
  const reach = Math.max(30, distance);
  const [scale, bar] = [half / reach, niceBelow(reach * 0.6)];
  const at = ({ lat, lon }: ConsolePairStation): [x: number, y: number] => [
    (lon - (station.lon + into.lon) / 2) * Math.cos((lat * Math.PI) / 180) * 111_320 * scale,
    ((station.lat + into.lat) / 2 - lat) * 111_320 * scale,
  ];
  const [[ax, ay], [bx, by]] = [at(station), at(into)];
  return (
    <figure class="mini-map">
      <svg
        viewBox="-100 -100 200 200"
        role="img"
        aria-label={say("{distance} apart", { distance: metres(distance) })}
      >
        <line x1={ax} y1={ay} x2={bx} y2={by} />
        <circle class="reporter" cx={ax} cy={ay} r={6} />
        <rect class="station" x={bx - 7} y={by - 7} width={14} height={14} rx={3} />
        <text x={ax + 10} y={ay - 8}>
          A
        </text>
        <text x={bx + 10} y={by + 18}>
          B
        </text>
        <path class="scale" d={`M-92 88v4h${bar * scale}v-4`} />
        <text x={-92} y={82}>
          {metres(bar)}
        </text>
      </svg>
    </figure>
  );
}
