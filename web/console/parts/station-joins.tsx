import { Button } from "#web/kit/button.tsx";
import { Form } from "#web/kit/form.tsx";
import { useState } from "preact/hooks";
import type { ConsoleStationPage } from "#src/contract/console.ts";
import { mayChange } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { fieldLabels } from "#web/console/parts/station-facts.tsx";
import { say, sayWith } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";

const pathOf = (id: string): string => `/stations/${encodeURIComponent(id)}`;
const linkTo = (id: string) => <a href={`#${pathOf(id)}`}>{id}</a>;

/** The station that this one is a part of, or its own parts, and the ways to change that (decisions 14.29). */
export function StationJoins({
  page: { station, joins },
  changed,
}: {
  page: ConsoleStationPage;
  changed: () => Promise<void>;
}) {
  const [other, setOther] = useState("");
  const doing = useDoing();
  const split = async (id: string): Promise<void> => {
    const words = say("The two are apart again");
    if ((await doing.run(words, "POST", `${pathOf(id)}/split`)) !== null) await changed();
  };
  const merge = async (): Promise<void> => {
    const words = say("{a} is a part of {b} now.", { a: station.id, b: other.trim() });
    const path = `${pathOf(station.id)}/merge`;
    if ((await doing.run(words, "POST", path, { other: other.trim() })) === null) return;
    setOther("");
    await changed();
  };
  const Split = ({ id }: { id: string }) =>
    mayChange() ? (
      <Button words={say("Take it out")} of={id} disabled={doing.busy} onClick={() => split(id)} />
    ) : null;
  const isLonely = joins.part_of === null && joins.parts.length === 0;
  if (isLonely && (!mayChange() || station.removed)) return null;
  return (
    <div class="card">
      <h2>{say("One station in several sources")}</h2>
      {joins.part_of !== null && (
        <p>
          {sayWith(
            "It is a part of {station}: its id answers with that one, and its marks are there.",
            {
              station: linkTo(joins.part_of),
            },
          )}{" "}
          <Split id={station.id} />
        </p>
      )}
      {joins.parts.length > 0 && (
        <>
          <p class="soft">
            {say("It shows what {source} says, except where a part is named. Its parts:", {
              source: station.source,
            })}
          </p>
          <ul class="by-hand">
            {joins.parts.map(({ id, source, actor, shows }) => (
              <li key={id}>
                <span>
                  {sayWith("{station} from {source}, joined by {actor}", {
                    ...{ station: linkTo(id), source, actor },
                  })}
                  {shows.length > 0 &&
                    `; ${say("shown of it: {fields}", { fields: shows.map((field) => fieldLabels[field]).join(", ") })}`}
                </span>
                <Split id={id} />
              </li>
            ))}
          </ul>
        </>
      )}
      {joins.part_of === null && !station.removed && mayChange() && (
        <Form
          class=""
          send={merge}
          doing={{ busy: doing.busy, fault: null }}
          action={say("Join them")}
          plain
          disabled={other.trim() === ""}
        >
          <TextField
            label={say("Make it a part of the station with the id")}
            value={other}
            onChange={setOther}
            maxLength={64}
            required
          />
        </Form>
      )}
      <Fault words={doing.fault} />
    </div>
  );
}
