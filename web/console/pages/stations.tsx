import { useEffect, useState } from "preact/hooks";
import type { ConsoleStation } from "#src/contract/console.ts";
import { useLoaded } from "#web/console/api.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { Status } from "#web/console/parts/status.tsx";
import { say } from "#web/console/words.ts";
import { Table } from "#web/kit/table.tsx";
import { Loaded } from "#web/kit/resource.tsx";

const pauseMs = 250;

/** Finds a station by its id, name, brand or address. */
export function StationsPage() {
  const [typed, setTyped] = useState("");
  const [q, setQ] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed), pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const loading = useLoaded<{ stations: ConsoleStation[] }>(`/stations?q=${encodeURIComponent(q)}`);
  return (
    <section>
      <h1>{say("Stations")}</h1>
      <TextField
        label={say("Search by id, name, brand or address")}
        type="search"
        value={typed}
        onChange={setTyped}
        maxLength={120}
      />
      {q === "" && <p class="soft">{say("Stations with the latest changes:")}</p>}
      <Loaded of={loading}>
        {({ stations }) => (
          <Table
            caption={say("Stations")}
            rows={stations}
            id={({ id }) => id}
            empty={
              q === ""
                ? say("No stations yet: import them on the server.")
                : say("No matching stations.")
            }
            perPage={25}
            columns={[
              {
                name: say("Station"),
                by: ({ name, id }) => name || id,
                cell: ({ id, name, brand, removed }) => (
                  <>
                    <a href={`#/stations/${id}`}>{name || brand || id}</a>
                    {removed && <span class="tag bad">{say("out of service")}</span>}
                  </>
                ),
              },
              { name: say("Brand"), of: "brand", cell: (brand) => brand || "–" },
              { name: say("Address"), of: "addr", cell: (addr) => addr || "–" },
              { name: say("Status"), of: "status", cell: (status) => <Status status={status} /> },
              { name: say("Id"), of: "id", cell: (id) => <code>{id}</code> },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}
