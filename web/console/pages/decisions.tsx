import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import {
  type ConsoleBlock,
  type ConsoleDecision,
  type DecisionAction,
  type DecisionKind,
  decisionKinds,
} from "#src/contract/decisions.ts";
import { type Part, useOlder } from "#web/console/parts/use-older.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useAsking } from "#web/kit/asking.tsx";
import { useDoing } from "#web/console/doing.ts";
import { SelectField, TextField } from "#web/console/parts/field.tsx";
import { LogFacts } from "#web/console/parts/log-facts.tsx";
import { goTo, place } from "#web/console/place.ts";
import { undoneWords } from "#web/console/parts/still-withdrawn.ts";
import { say, sayWith } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";
import { Ago, Moment } from "#web/kit/time.tsx";

type Answer = Part<"decisions", ConsoleDecision>;

const kindWords: Readonly<Record<DecisionKind, string>> = {
  review: say("Review"),
  rollback: say("Rollback"),
  block: say("Blocks"),
  station: say("Stations"),
  import: say("Imports and feeds"),
  limit: say("Partners and limits"),
  key: say("Keys"),
  brand: say("Brands"),
  incident: say("Incidents"),
};

/** The decision in words. */
const actionWords: Readonly<Record<DecisionAction, string>> = {
  "review.approve": say("Held marks approved"),
  "review.reject": say("Held marks rejected"),
  "review.approve-undo": say("Approval taken back"),
  "review.reject-undo": say("Rejection taken back"),
  "marks.rollback": say("Marks withdrawn"),
  "marks.rollback-undo": say("Rollback taken back"),
  "reporter.block": say("Reporter blocked"),
  "network.block": say("Network blocked"),
  "suggestion.done": say("Suggestion done"),
  "suggestion.dismiss": say("Suggestion found wrong"),
  "suggestion.done-undo": say("Suggestion opened again"),
  "suggestion.dismiss-undo": say("Suggestion opened again"),
  "station.add": say("Station added"),
  "station.edit": say("Station edited"),
  "station.close": say("Station closed"),
  "station.reopen": say("Station reopened"),
  "station.merge": say("Station merged"),
  "station.split": say("Station split off"),
  "station.keep-apart": say("Stations kept apart"),
  "stations.import": say("Stations imported"),
  "cities.import": say("Cities imported"),
  "statuses.import": say("Statuses imported"),
  "feed.import": say("Feed imported"),
  "feed.add": say("Feed added"),
  "feed.remove": say("Feed removed"),
  "feed.pause": say("Feed paused"),
  "feed.resume": say("Feed resumed"),
  "feed.run": say("Feed run"),
  "limit-request.approve": say("Limit request approved"),
  "limit-request.reject": say("Limit request rejected"),
  "limit-request.approve-undo": say("Approval of limits taken back"),
  "limit-request.reject-undo": say("Rejection of limits taken back"),
  "partner.create": say("Partner made"),
  "partner.update": say("Partner changed"),
  "partner.launch": say("Launch set"),
  "key.issue": say("Key issued"),
  "key.update": say("Key changed"),
  "key.limit": say("Key limited"),
  "key.rotate": say("Key renewed by its partner"),
  "key.revoke": say("Key revoked"),
  "station.field-sources": say("Main source of a field changed"),
  "brand.alias": say("Brand renamed"),
  "brand.unalias": say("Alias of a brand removed"),
  "incident.open": say("Incident opened"),
  "incident.update": say("Incident continued"),
  "incident.edit": say("Incident corrected"),
  "incident.close": say("Incident closed"),
};

const ended = {
  "reporter.block": say("Block of a reporter ended"),
  "network.block": say("Block of a network ended"),
  "key.limit": say("Limit of a key ended"),
  "partner.launch": say("Launch ended"),
} as const;

/** An act with `until` or its like null ends what it would otherwise begin. */
function wordsOf({ action, details }: ConsoleDecision): string {
  const until = details["until"] ?? details["limited_until"] ?? details["launch_until"];
  if (until === null || until === undefined)
    if (action in ended) return ended[action as keyof typeof ended];
  return actionWords[action as DecisionAction];
}

/** The decisions of operators, each with what it changed, its record, and the way back (decisions 13.28). */
export function DecisionsPage({ entry }: { entry: string | undefined }) {
  const [actor, setActor] = useState("");
  const kind = place.value.query.get("kind") ?? "";
  const asked = new URLSearchParams({
    ...(actor === "" ? {} : { actor }),
    ...(kind === "" ? {} : { kind }),
    ...(entry === undefined ? {} : { entry }),
  });
  const path = `/decisions?${asked.toString()}`;
  const [ends, setEnds] = useState(0);
  return (
    <section>
      <h1>{entry === undefined ? say("Decisions") : say("Decision {id}", { id: entry })}</h1>
      {entry === undefined ? (
        <div class="grid filters">
          <SelectField
            label={say("Kind")}
            value={kind}
            options={[
              ["", say("any")],
              ...decisionKinds.map((one) => [one, kindWords[one]] as const),
            ]}
            onChange={(value) => goTo(value === "" ? "/decisions" : `/decisions?kind=${value}`)}
          />
          <TextField
            label={say("Actor")}
            type="search"
            value={actor}
            onChange={setActor}
            maxLength={200}
          />
        </div>
      ) : (
        <p>
          <a href="#/decisions">{say("All decisions")}</a>
        </p>
      )}
      {entry === undefined && ["", "block"].includes(kind) && (
        <Blocks changed={() => setEnds(ends + 1)} />
      )}
      <Decisions key={`${path} ${ends}`} path={path} />
    </section>
  );
}

function Decisions({ path }: { path: string }) {
  const loading = useLoaded<Answer>(path);
  const first = loading.value.value;
  const { entries, more, fault, forget } = useOlder("decisions", `${path}&`, first);
  const doing = useDoing();
  const { ask, question } = useAsking();
  const undo = (decision: ConsoleDecision): void => {
    const { undo: way, details } = decision;
    if (way === null) return;
    const figures = { marks: Number(details["marks"]), stations: Number(details["stations"]) };
    ask({
      title: say("Take this decision back?"),
      why:
        details["marks"] === undefined
          ? null
          : say(
              "{marks} {marks|mark is|marks are} again what {marks|it was|they were} before, and {stations} {stations|station is|stations are} calculated again. Marks since then keep their effect.",
              figures,
            ),
      action: say("Take it back"),
      run: async () => {
        const done = await doing.run(undoneWords, way.method, way.path, way.body);
        if (done === null) return;
        forget();
        await loading.load();
      },
    });
  };
  return (
    <>
      <Fault words={doing.fault ?? fault} />
      {question}
      <Loaded of={loading}>
        {() => (
          <>
            <Table
              caption={say("Decisions")}
              rows={entries}
              id={({ id }) => id}
              empty={say("No decisions yet.")}
              perPage={50}
              columns={[
                { name: say("When"), cell: ({ at }) => <Moment at={at} /> },
                { name: say("By"), cell: ({ actor }) => actor },
                { name: say("Decision"), cell: (one) => <What of={one} /> },
                { name: say("What it changed"), cell: (one) => <LogFacts of={one.details} /> },
                {
                  name: say("Way back"),
                  cell: (one) => <Back of={one} busy={doing.busy} undo={() => undo(one)} />,
                },
              ]}
            />
            {more !== null && <Button words={say("Load older entries")} onClick={more} />}
          </>
        )}
      </Loaded>
    </>
  );
}

const What = ({ of: decision }: { of: ConsoleDecision }) => (
  <>
    <a href={`#${decision.page}`}>{wordsOf(decision)}</a>
    <div>
      {decision.name !== "" && `${decision.name} `}
      <Subject of={decision.subject} />
    </div>
  </>
);

/** `key 7` in the page's language; counts of marks stand in the next column. */
function Subject({ of: subject }: { of: string }) {
  const [, noun = "", id = ""] = /^(\w+) (\S+)$/.exec(subject) ?? [];
  const named: Readonly<Record<string, string>> = {
    ...{ mark: say("mark {id}", { id }), station: say("station {id}", { id }) },
    ...{ key: say("key #{id}", { id }), reporter: say("reporter #{id}", { id }) },
    ...{ network: say("network {network}", { network: id }) },
    ...{
      partner: say("partner {partner}", { partner: id }),
      feed: say("feed {feed}", { feed: id }),
    },
  };
  if (/^\d+ marks at/.test(subject)) return null;
  return (
    <span class="soft" {...(named[noun] === undefined ? { lang: "en" } : {})}>
      {named[noun] ?? subject}
    </span>
  );
}

function Back({
  of: decision,
  busy,
  undo,
}: {
  of: ConsoleDecision;
  busy: boolean;
  undo: () => void;
}) {
  const { since } = decision;
  if (decision.undo !== null)
    return mayChange() ? (
      <Button of={`${wordsOf(decision)}, ${decision.subject}`} disabled={busy} onClick={undo}>
        {say("Undo")}
      </Button>
    ) : (
      <span class="soft">{say("can be taken back")}</span>
    );
  if (since === null) return <span class="soft">–</span>;
  const by = { actor: since.actor, ago: <Ago at={since.at} /> };
  return (
    <span class="soft">
      {since.undone
        ? sayWith("taken back by {actor}, {ago}", by)
        : sayWith("changed again by {actor}, {ago}", by)}
    </span>
  );
}

/** Blocks that are in force, and their early end. */
function Blocks({ changed }: { changed: () => void }) {
  const loading = useLoaded<{ blocks: ConsoleBlock[] }>("/blocks");
  const doing = useDoing();
  const end = async ({ kind, id }: ConsoleBlock): Promise<void> => {
    const path = `/${kind}s/${id}/block`;
    await doing.run(say("The block has ended"), "POST", path, { until: null });
    await loading.load();
    changed();
  };
  const nameOf = ({ kind, id }: ConsoleBlock): string =>
    kind === "reporter"
      ? say("reporter #{id}", { id })
      : say("network {network}", { network: id.slice(0, 8) });
  return (
    <Loaded of={loading}>
      {({ blocks }) =>
        blocks.length > 0 && (
          <div class="card">
            <h2>{say("Blocks in force")}</h2>
            <Fault words={doing.fault} />
            <ul class="by-hand">
              {blocks.map((block) => (
                <li key={`${block.kind} ${block.id}`}>
                  <span>
                    <a href={`#/rollback?${block.kind}=${block.id}`}>{nameOf(block)}</a>,{" "}
                    {sayWith("until {day}", { day: <Moment at={block.until} /> })}
                  </span>
                  {mayChange() && (
                    <Button of={nameOf(block)} disabled={doing.busy} onClick={() => end(block)}>
                      {say("End it")}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          </div>
        )
      }
    </Loaded>
  );
}
