import { Errors } from "#web/dashboard/errors.tsx";
import { FirstCall } from "#web/dashboard/first-call.tsx";
import { Header } from "#web/dashboard/header.tsx";
import { Hours } from "#web/dashboard/hours.tsx";
import { Incidents } from "#web/dashboard/incidents.tsx";
import { Keys } from "#web/dashboard/keys.tsx";
import { Limits } from "#web/dashboard/limits.tsx";
import { Links } from "#web/dashboard/links.tsx";
import { Marks } from "#web/dashboard/marks.tsx";
import { Recent } from "#web/dashboard/recent.tsx";
import { Requests } from "#web/dashboard/requests.tsx";
import { SignInPage } from "#web/dashboard/sign-in.tsx";
import { isReader, overview, session } from "#web/dashboard/state.ts";
import { Today } from "#web/dashboard/today.tsx";
import { Webhooks } from "#web/dashboard/webhooks.tsx";
import { say } from "#web/dashboard/words.ts";

/** The dashboard, or its sign-in. */
export function App() {
  if (session.value === undefined) return <p class="starting">{say("Loading …")}</p>;
  if (session.value === null) return <SignInPage />;
  const days = overview.value.value;
  const isNew =
    days !== null && [...days.days, ...days.widget].every(({ requests }) => requests === 0);
  return (
    <>
      <Header session={session.value} isNew={isNew} />
      <main>
        <h1 class="unseen">{say("Dashboard of {partner}", { partner: session.value.partner })}</h1>
        <Incidents />
        {isNew && <FirstCall session={session.value} isNew />}
        <Today />
        <Requests />
        <Errors />
        <Recent />
        <Hours />
        <Marks />
        <Limits />
        <Keys />
        {!isReader.value && <Webhooks />}
        {!isReader.value && <Links />}
        {!isNew && <FirstCall session={session.value} isNew={false} />}
      </main>
    </>
  );
}
