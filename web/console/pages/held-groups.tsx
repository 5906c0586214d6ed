import { Button } from "#web/kit/button.tsx";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ConsoleChoices } from "#src/contract/console.ts";
import type { ConsoleHeldGroup, ConsoleRollback } from "#src/contract/console-review.ts";
import { dayMs } from "#src/domain/units.ts";
import { api, mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { Changes } from "#web/console/parts/changes.tsx";
import { keyName } from "#web/console/parts/selection.ts";
import { statusWord } from "#web/console/parts/status.tsx";
import { say, sayWith } from "#web/console/words.ts";
import { useAsking } from "#web/kit/asking.tsx";
import { useKeys } from "#web/console/parts/use-keys.ts";
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
  const { ask, question } = useAsking();
  const [decided, setDecided] = useState<Decided | null>(null);
  const doing = useDoing();
  const groups = loading.value.value?.groups ?? [];

  const refresh = async (): Promise<void> => {
    await Promise.all([loading.load(), changed()]);
  };
  const decide = async (verb: Verb, { selection }: ConsoleHeldGroup): Promise<void> => {
    const approves = verb === "approve";
    const words = approves ? say("The group was approved") : say("The group was rejected");
    const path = `/review/groups/${verb}`;
    const done = await doing.run<{ id: number | null; marks: number }>(
      words,
      "POST",
      path,
      selection,
    );
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
  const consider = (verb: Verb, group: ConsoleHeldGroup): void => {
    const { marks: n, stations, leans } = group;
    const isAgainst = leans !== null && leans !== verb;
    const words = { group: titleOf(group, choices), said: saidOf(group), stations };
    const approves = verb === "approve";
    ask({
      title: approves
        ? say("Approve {n} {n|mark|marks}?", { n })
        : say("Reject {n} {n|mark|marks}?", { n }),
      why: [
        say(
          "{group}: {said} at {stations} {stations|station|stations}. The decision can be taken back.",
          words,
        ),
        isAgainst ? againstWords(group) : "",
      ].join(" "),
      action: approves ? say("Approve") : say("Reject"),
      danger: isAgainst,
      run: () => decide(verb, group),
    });
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
  const [current, goTo] = useKeys(groups.length, (letter, n) => {
    const verb = { a: "approve", r: "reject" }[letter] as Verb | undefined;
    if (verb === undefined || !mayChange()) return false;
    consider(verb, groups[n]!);
    return true;
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
          {decided.words} <Button words={say("Undo")} disabled={doing.busy} onClick={undo} />
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
                goTo(n);
                consider(verb, group);
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
                    id: key,
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
      {question}
    </>
  );
}

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
        <Button words={say("What would change")} of={title} onClick={look} />
        {mayChange() && (
          <>
            {(["approve", "reject"] as const).map((verb) => (
              <Button
                key={verb}
                of={title}
                class={leans === verb ? "primary" : ""}
                disabled={busy}
                onClick={() => ask(verb)}
              >
                {verb === "approve" ? say("Approve the group") : say("Reject the group")}
              </Button>
            ))}
            {key !== null && (
              <Button
                words={say("Limit the key")}
                of={title}
                disabled={busy}
                onClick={() => limit(key)}
              />
            )}
            {network !== null && (
              <Button
                words={say("Block the network")}
                of={title}
                disabled={busy}
                onClick={() => block(network)}
              />
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
