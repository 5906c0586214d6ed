import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ConsoleChoices, ConsoleHeldGroup, ConsoleRollback } from "#src/contract/console.ts";
import { dayMs } from "#src/domain/units.ts";
import { api, mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { Changes } from "#web/console/parts/changes.tsx";
import { keyName } from "#web/console/parts/selection.ts";
import { statusWord } from "#web/console/parts/status.tsx";
import { say, sayWith } from "#web/console/words.ts";
import { Confirm } from "#web/kit/confirm.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { number } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Moment } from "#web/kit/time.tsx";

type Verb = "approve" | "reject";

/** A decision in words, and the call that takes it back. */
interface Decided {
  words: string;
  path: string;
  back?: object;
}

const blockDays = 7;

/**
 * Held marks by source, city and hour: one decision for a group, with a way back. j and k go from group to group, a
 * approves, r rejects. `held`: how many there are in all.
 */
export function HeldGroups({ held, changed }: { held: number; changed: () => Promise<void> }) {
  const loading = useLoaded<{ groups: ConsoleHeldGroup[] }>("/review/groups");
  // Marks were decided one by one meanwhile.
  useEffect(() => void loading.load(), [loading, held]);
  const choices = useLoaded<ConsoleChoices>("/choices").value.value;
  const [here, setHere] = useState(0);
  const [asking, setAsking] = useState<{ verb: Verb; group: ConsoleHeldGroup } | null>(null);
  const [decided, setDecided] = useState<Decided | null>(null);
  const doing = useDoing();
  const groups = loading.value.value?.groups ?? [];
  const current = Math.min(here, groups.length - 1);

  const refresh = async (): Promise<void> => {
    await Promise.all([loading.load(), changed()]);
  };
  const decide = async (): Promise<void> => {
    if (asking === null) return;
    const approves = asking.verb === "approve";
    const done = await doing.run<{ id: number | null; marks: number }>(
      approves ? say("The group was approved") : say("The group was rejected"),
      "POST",
      `/review/groups/${asking.verb}`,
      asking.group.selection,
    );
    setAsking(null);
    if (done !== null && done.id !== null) {
      const n = { n: done.marks };
      setDecided({
        words: approves
          ? say("{n} {n|mark|marks} {n|was|were} approved.", n)
          : say("{n} {n|mark|marks} {n|was|were} rejected.", n),
        path: `/review/decisions/${done.id}/undo`,
      });
    }
    await refresh();
  };
  /** Blocks a network or limits a key for some days. */
  const stop = async (path: string, words: string, what: object): Promise<void> => {
    const until = Date.now() + blockDays * dayMs;
    const done = await doing.run(words, "POST", path, { ...what, until });
    if (done !== null) setDecided({ words, path, back: { ...what, until: null } });
  };
  const undo = async (): Promise<void> => {
    if (decided === null) return;
    const words = say("The decision was taken back");
    if ((await doing.run(words, "POST", decided.path, decided.back)) !== null) setDecided(null);
    await refresh();
  };
  // A layout effect runs with the page's first picture, so that no key is lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const typing = (event.target as Element).closest("input, select, textarea, dialog") !== null;
      if (typing || event.ctrlKey || event.metaKey || event.altKey || groups.length === 0) return;
      const group = groups[current]!;
      const letter = letterOf(event);
      if (letter === "j") setHere(Math.min(current + 1, groups.length - 1));
      else if (letter === "k") setHere(Math.max(current - 1, 0));
      else if (letter === "a" && mayChange()) setAsking({ verb: "approve", group });
      else if (letter === "r" && mayChange()) setAsking({ verb: "reject", group });
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
  return (
    <>
      {groups.length > 0 && <h2>{say("By source, city and hour")}</h2>}
      {groups.length > 0 && mayChange() && (
        <p class="soft">
          {sayWith("Keys: {j} next, {k} previous, {a} approve, {r} reject.", {
            j: <kbd>j</kbd>,
            k: <kbd>k</kbd>,
            a: <kbd>a</kbd>,
            r: <kbd>r</kbd>,
          })}
        </p>
      )}
      <Fault words={doing.fault} />
      {decided !== null && (
        <p class="banner good" role="status">
          {decided.words}{" "}
          <button type="button" disabled={doing.busy} onClick={() => void undo()}>
            {say("Undo")}
          </button>
        </p>
      )}
      <Loaded of={loading}>
        {() =>
          groups.map((group, n) => (
            <Group
              key={JSON.stringify(group.selection)}
              group={group}
              choices={choices}
              current={n === current}
              busy={doing.busy}
              ask={(verb) => {
                setHere(n);
                setAsking({ verb, group });
              }}
              block={(network) => {
                const words = say("Marks of network {network} are held for {n} {n|day|days}.", {
                  network,
                  n: blockDays,
                });
                void stop(`/networks/${network}/block`, words, {});
              }}
              limit={(key) => {
                const words = say(
                  "Key #{id} may change one station in an hour, for {n} {n|day|days}.",
                  {
                    id: String(key),
                    n: blockDays,
                  },
                );
                void stop(`/keys/${key}/limit`, words, { to: 1 });
              }}
            />
          ))
        }
      </Loaded>
      {groups.length > 0 && <h2>{say("One by one")}</h2>}
      {asking !== null && (
        <Confirm
          title={
            asking.verb === "approve"
              ? say("Approve {n} {n|mark|marks}?", { n: asking.group.marks })
              : say("Reject {n} {n|mark|marks}?", { n: asking.group.marks })
          }
          action={asking.verb === "approve" ? say("Approve") : say("Reject")}
          danger={asking.group.leans !== null && asking.group.leans !== asking.verb}
          busy={doing.busy}
          onConfirm={() => void decide()}
          onCancel={() => setAsking(null)}
        >
          <p>
            {say(
              "{group}: {said} at {stations} {stations|station|stations}. The decision can be taken back.",
              {
                group: titleOf(asking.group, choices),
                said: saidOf(asking.group),
                stations: asking.group.stations,
              },
            )}{" "}
            {asking.group.leans !== null &&
              asking.group.leans !== asking.verb &&
              againstWords(asking.group)}
          </p>
        </Confirm>
      )}
    </>
  );
}

/** The Latin letter of a key, on a Russian keyboard too. */
export const letterOf = ({ key, code }: KeyboardEvent): string =>
  /^[а-яё]$/.test(key) ? code.replace("Key", "").toLowerCase() : key;

interface Props {
  group: ConsoleHeldGroup;
  choices: ConsoleChoices | null;
  current: boolean;
  busy: boolean;
  ask: (verb: Verb) => void;
  block: (network: string) => void;
  limit: (key: number) => void;
}

function Group({ group, choices, current, busy, ask, block, limit }: Props) {
  const [seen, setSeen] = useState<ConsoleRollback | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    if (current) article.current?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const look = async (): Promise<void> => {
    const answer = await api.send<ConsoleRollback>("POST", "/review/preview", group.selection);
    setFault(answer.failure?.words ?? null);
    setSeen(answer.failure === undefined ? answer.value : null);
  };
  const { network, key_id: key, hour, marks, stations, reporters, agree, disagree } = group;
  const { newcomers, exact, span_s: span, leans, lies } = group;
  const title = titleOf(group, choices);
  const unseen = <span class="unseen"> {title}</span>;
  return (
    <article class={current ? "card held-group current" : "card held-group"} ref={article}>
      <h3>{title}</h3>
      <p>
        {sayWith(
          "{hour} and the hour after it: {marks} {marks|mark|marks} of {reporters} {reporters|reporter|reporters} at {stations} {stations|station|stations}: {said}.",
          { hour: <Moment at={hour} />, marks, reporters, stations, said: saidOf(group) },
        )}
      </p>
      <p>
        {agree + disagree === 0
          ? say("Nobody else has marked these stations within three hours.")
          : say("Others at these stations within three hours: {agree} agree, {disagree} do not.", {
              agree,
              disagree,
            })}{" "}
        {say("New reporters: {newcomers} of {reporters}.", { newcomers, reporters })}{" "}
        {exact > 0 && say("Exactly at the station’s point: {exact} of {marks}.", { exact, marks })}{" "}
        {marks > 1 && paceWords(marks, span)}
      </p>
      {lies !== null && (
        <p>
          {sayWith("Of marks like these, of their source and their reporters, {n} % are {lies}.", {
            n: String(lies),
            lies: <a href="#/chances">{say("taken for lies")}</a>,
          })}
        </p>
      )}
      <Fault words={fault} />
      {seen !== null && <Changes changes={seen.changes} />}
      <div class="buttons">
        <button type="button" onClick={() => void look()}>
          {say("What would change")}
          {unseen}
        </button>
        {mayChange() && (
          <>
            {(["approve", "reject"] as const).map((verb) => (
              <button
                key={verb}
                type="button"
                class={leans === verb ? "primary" : ""}
                disabled={busy}
                onClick={() => ask(verb)}
              >
                {verb === "approve" ? say("Approve the group") : say("Reject the group")}
                {unseen}
              </button>
            ))}
            {key !== null && (
              <button type="button" disabled={busy} onClick={() => limit(key)}>
                {say("Limit the key")}
                {unseen}
              </button>
            )}
            {network !== null && (
              <button type="button" disabled={busy} onClick={() => block(network)}>
                {say("Block the network")}
                {unseen}
              </button>
            )}
          </>
        )}
        <a href={key === null ? `#/rollback?network=${network}` : `#/rollback?key=${key}`}>
          {say("Withdraw what counted …")}
        </a>
      </div>
    </article>
  );
}

/** How fast the marks came. */
const paceWords = (marks: number, span: number): string =>
  span < marks
    ? say("All came within {s} s, {n} per second.", {
        s: span,
        n: Math.round(marks / Math.max(1, span)),
      })
    : say("All came within {n} min.", { n: Math.ceil(span / 60) });

const againstWords = ({ agree, disagree, leans }: ConsoleHeldGroup): string =>
  say("{n} of {all} marks of others speak against it.", {
    n: leans === "reject" ? disagree : agree,
    all: agree + disagree,
  });

function titleOf(
  { network, key_id: id, partner, city }: ConsoleHeldGroup,
  choices: ConsoleChoices | null,
): string {
  const key = choices?.keys.find((one) => one.id === id);
  const source =
    network === null
      ? say("{partner}, key {key}", {
          partner: partner ?? say("Map"),
          key: key === undefined ? `#${id}` : keyName(key),
        })
      : say("Network {network}", { network });
  return `${source}, ${city === "" ? say("outside of cities") : city}`;
}

const saidOf = ({ said }: ConsoleHeldGroup): string =>
  Object.entries(said)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${number(count)} × ${statusWord(status).toLowerCase()}`)
    .join(", ");
