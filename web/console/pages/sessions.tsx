import { Button } from "#web/kit/button.tsx";
import type { ConsoleSession } from "#src/contract/console.ts";
import { account, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { say, sayWith } from "#web/console/words.ts";
import { Table, timed } from "#web/kit/table.tsx";
import { Ago } from "#web/kit/time.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { Loaded } from "#web/kit/resource.tsx";

/** Open sessions of the console: one's own, for operators everybody's. */
export function SessionsPage() {
  const loading = useLoaded<{ sessions: ConsoleSession[] }>("/sessions");
  const doing = useDoing();
  const end = async ({ id, current }: ConsoleSession): Promise<void> => {
    await doing.run(say("The session was ended"), "DELETE", `/sessions/${id}`);
    if (current) account.value = null;
    else await loading.load();
  };
  return (
    <section>
      <h1>{say("Sessions")}</h1>
      <p class="soft">
        {sayWith(
          "A session ends after 12 hours, when someone ends it here, and when its account is disabled or reset on the server ({command}).",
          { command: <code>npm run operator -- account</code> },
        )}
      </p>
      <Fault words={doing.fault} />
      <Loaded of={loading}>
        {({ sessions }) => (
          <Table
            caption={say("Sessions")}
            rows={sessions}
            id={({ id }) => id}
            empty={say("None")}
            columns={[
              {
                name: say("Account"),
                by: (one) => one.account,
                cell: ({ account: name, role, current }) => (
                  <>
                    {name} <span class="tag">{role}</span>
                    {current && <span class="tag good">{say("this session")}</span>}
                  </>
                ),
              },
              timed(say("Since"), "created"),
              {
                name: say("Last seen"),
                of: "last_seen",
                cell: (last_seen) => <Ago at={last_seen} />,
              },
              timed(say("Ends"), "expires"),
              {
                name: say("From"),
                cell: ({ address, agent }) => (
                  <>
                    {address} <div class="soft agent">{agent}</div>
                  </>
                ),
              },
              {
                name: say("Actions"),
                cell: (one) => (
                  <Button
                    of={say("the session of {account}", { account: one.account })}
                    disabled={doing.busy}
                    onClick={() => end(one)}
                  >
                    {say("End")}
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}
