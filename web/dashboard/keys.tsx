import type { ShownKey } from "#src/contract/dashboard.ts";
import { KeyRotation } from "#web/dashboard/key-rotation.tsx";
import { Section } from "#web/dashboard/section.tsx";
import { isReader, keys } from "#web/dashboard/state.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table, timed } from "#web/kit/table.tsx";
import { Moment } from "#web/kit/time.tsx";
import { say } from "#web/dashboard/words.ts";

const signs = { "in force": "✓", expired: "○", revoked: "✕" } as const;

/** The partner's keys as far as anybody can still see them, and the replacement of this session's. */
export const Keys = () => (
  <Section
    id="keys"
    title={say("Keys")}
    tools={
      <a class="button" href="../widget/embed">
        {say("Embed the map")}
      </a>
    }
  >
    <p class="soft small">
      {say(
        "A complete key is shown only once, when it is issued. This page knows only its first characters, so the embed page asks you to enter your publishable key, once in each browser. Ask the operator for a new key, or to revoke a key. You can replace the secret key that you have signed in with.",
      )}
    </p>
    {!isReader.value && <KeyRotation />}
    <Loaded of={keys}>
      {(value) => (
        <Table
          caption={say("Your keys")}
          rows={value.keys}
          id={({ id }) => id}
          empty={say("No keys.")}
          columns={[
            {
              name: say("Key"),
              cell: ({ prefix, kind, label, current }) => (
                <span>
                  <code class="whole">{prefix}…</code>
                  <br />
                  <span class="soft small">
                    {[say(kind), ...(label === "" ? [] : [label])].join(", ")}
                    {current && ` ${say("(this session)")}`}
                  </span>
                </span>
              ),
              by: ({ prefix, label }) => `${prefix} ${label}`,
            },
            {
              name: say("State"),
              of: "state",
              cell: (state) => (
                <span class={`badge ${state.replace(" ", "-")}`}>
                  {signs[state]} {say(state)}
                </span>
              ),
            },
            { name: say("Bound to"), cell: boundTo },
            { name: say("Map"), cell: embedOf },
            timed(say("Last used"), "last_used"),
            timed(say("Created"), "created"),
            {
              name: say("Expires"),
              cell: ({ expires }) => <Moment at={expires} />,
              by: ({ expires }) => expires ?? Number.POSITIVE_INFINITY,
            },
          ]}
        />
      )}
    </Loaded>
  </Section>
);

const embedOf = ({ kind, state, prefix }: ShownKey) =>
  kind === "publishable" && state === "in force" ? (
    <a href={`../widget/embed?prefix=${encodeURIComponent(prefix)}`}>
      {say("Embed the map")}
      <span class="unseen"> {prefix}…</span>
    </a>
  ) : null;

function boundTo({ kind, domains, ips }: ShownKey) {
  const places = kind === "publishable" ? domains : ips;
  if (places.length === 0) return kind === "publishable" ? say("no domain") : say("any address");
  return (
    <ul class="list">
      {places.map((place) => (
        <li key={place}>{place}</li>
      ))}
    </ul>
  );
}
