import { Form } from "#web/kit/form.tsx";
import { Button } from "#web/kit/button.tsx";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ConsoleFieldSources } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { SelectField } from "#web/console/parts/field.tsx";
import { savedWords } from "#web/console/pages/brands.tsx";
import { say, type Text } from "#web/console/words.ts";
import { number } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table } from "#web/kit/table.tsx";

type Rule = ConsoleFieldSources["fields"][number];

const names: Readonly<Record<string, Text>> = {
  ...{ name: "Name", brand: "Brand", addr: "Address", grades_sold: "Grades sold" },
  ...{ opening_hours: "Opening hours", position: "Position" },
};
const called = ({ field }: Rule): string => say(names[field] ?? "Name");

/** Which source wins each field of stations that several sources have (decisions 14.42). */
export function FieldSources() {
  const loading = useLoaded<ConsoleFieldSources>("/field-sources");
  const [rule, setRule] = useState<Rule | null>(null);
  return (
    <section>
      <h2>{say("Which source wins a field")}</h2>
      <p class="soft">
        {say(
          "A station that several sources have shows, field by field, the first source of this list that says something. What is set by hand stays.",
        )}
      </p>
      <Loaded of={loading}>
        {({ fields, sources }) =>
          sources.length === 0 && fields.every((one) => one.sources.length === 0) ? (
            <p class="empty">{say("No station has several sources yet.")}</p>
          ) : (
            <>
              <Table
                caption={say("Which source wins a field")}
                rows={fields}
                id={({ field }) => field}
                empty=""
                columns={[
                  { name: say("Field"), cell: called },
                  {
                    name: say("Sources"),
                    cell: ({ sources: order }) =>
                      order.length > 0 ? order.join(", ") : say("the own one of each station"),
                  },
                  ...(mayChange()
                    ? [
                        {
                          name: say("Change"),
                          cell: (one: Rule) => (
                            <Button of={called(one)} onClick={() => setRule(one)}>
                              {say("Change it …")}
                            </Button>
                          ),
                        },
                      ]
                    : []),
                ]}
              />
              {rule !== null && (
                <RuleForm
                  key={rule.field}
                  rule={rule}
                  sources={[...new Set([...sources, ...rule.sources])]}
                  done={async () => {
                    setRule(null);
                    await loading.load();
                  }}
                />
              )}
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function RuleForm({
  rule,
  sources,
  done,
}: {
  rule: Rule;
  sources: readonly string[];
  done: () => Promise<void>;
}) {
  const [order, setOrder] = useState(rule.sources);
  const doing = useDoing();
  const form = useRef<HTMLFormElement>(null);
  // It may lie far below the row that has asked for it.
  useEffect(() => {
    form.current?.scrollIntoView({ block: "nearest" });
    form.current?.querySelector("select")?.focus();
  }, []);
  const path = `/field-sources/${rule.field}`;
  const preview = useLoaded<{ joined: number; change: number }>(
    `${path}/preview?sources=${order.join()}`,
  );
  const save = async (): Promise<void> => {
    if ((await doing.run(savedWords, "POST", path, { sources: order })) !== null) await done();
  };
  // One choice for each source that wins, and one for the next.
  const choices = [...order, ""].slice(0, sources.length);
  return (
    <Form box={form} send={save} doing={doing} action={say("Save")} cancel={() => done()}>
      <h3>{called(rule)}</h3>
      <div class="grid">
        {choices.map((source, n) => (
          <SelectField
            key={n}
            label={n === 0 ? say("First") : say("Else, {n}", { n: String(n + 1) })}
            value={source}
            options={[
              ["", say("the own one of each station")],
              ...sources
                .filter((one) => one === source || !order.slice(0, n).includes(one))
                .map((one) => [one, one] as const),
            ]}
            onChange={(chosen) =>
              setOrder([
                ...order.slice(0, n),
                ...(chosen === "" ? [] : [chosen]),
                ...(chosen === "" ? [] : order.slice(n + 1).filter((one) => one !== chosen)),
              ])
            }
          />
        ))}
      </div>
      <Loaded of={preview}>
        {({ joined, change }) => (
          <p role="status">
            {say("Stations that would change: {n} of {all}.", {
              ...{ n: number(change), all: number(joined) },
            })}
          </p>
        )}
      </Loaded>
    </Form>
  );
}
