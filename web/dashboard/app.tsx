import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Errors } from "#web/dashboard/errors.tsx";
import { FirstCall } from "#web/dashboard/first-call.tsx";
import { Header } from "#web/dashboard/header.tsx";
import { Hours } from "#web/dashboard/hours.tsx";
import { Incidents } from "#web/dashboard/incidents.tsx";
import { KeyKind } from "#web/dashboard/key-kind.tsx";
import { Keys } from "#web/dashboard/keys.tsx";
import { Limits } from "#web/dashboard/limits.tsx";
import { Links } from "#web/dashboard/links.tsx";
import { Marks } from "#web/dashboard/marks.tsx";
import { Recent } from "#web/dashboard/recent.tsx";
import { Requests } from "#web/dashboard/requests.tsx";
import { SignInPage } from "#web/dashboard/sign-in.tsx";
import { isNew, isReader, place, session } from "#web/dashboard/state.ts";
import { Today } from "#web/dashboard/today.tsx";
import { Webhooks } from "#web/dashboard/webhooks.tsx";
import { say } from "#web/dashboard/words.ts";

interface Tab {
  name: string;
  /** By their ids: the address of each, `#id` or `#/id`, opens its tab. */
  parts: Readonly<Record<string, ComponentType>>;
  /** Not for those who came by a link. */
  isOwn?: true;
}

const tabs: readonly Tab[] = [
  { name: say("Requests"), parts: { today: Today, requests: Requests, hours: Hours } },
  { name: say("Errors"), parts: { errors: Errors, "last-requests": Recent } },
  { name: say("Marks"), parts: { marks: Marks } },
  { name: say("Limits and keys"), parts: { limits: Limits, keys: Keys } },
  { name: say("Webhooks"), parts: { webhooks: Webhooks }, isOwn: true },
  { name: say("Links"), parts: { links: Links }, isOwn: true },
];
const firstCall: Tab = { name: say("First call"), parts: { "first-call": FirstCall } };

/** The dashboard, or its sign-in. */
export function App() {
  if (session.value === undefined) return <p class="starting">{say("Loading …")}</p>;
  if (session.value === null) return <SignInPage />;
  return (
    <>
      <Header session={session.value} />
      <Tabs partner={session.value.partner} />
    </>
  );
}

function Tabs({ partner }: { partner: string }) {
  const shown = tabs.filter(({ isOwn }) => isOwn !== true || !isReader.value);
  if (!isNew.value) shown.push(firstCall);
  const tab = shown.find(({ parts }) => Object.hasOwn(parts, place.value)) ?? shown[0]!;
  const parts = Object.entries(tab.parts);
  useEffect(() => {
    if (place.value === parts[0]![0]) window.scrollTo(0, 0);
    else document.getElementById(place.value)?.scrollIntoView();
  }, [place.value]);
  return (
    <>
      <nav class="parts" aria-label={say("Parts of this page")}>
        <KeyKind />
        {shown.map((one) => (
          <a
            key={one.name}
            href={`#/${Object.keys(one.parts)[0]!}`}
            aria-current={one === tab ? "true" : undefined}
          >
            {one.name}
          </a>
        ))}
      </nav>
      <main>
        <h1 class="unseen">{say("Dashboard of {partner}", { partner })}</h1>
        <Incidents />
        {isNew.value && tab === tabs[0] && <FirstCall />}
        {parts.map(([id, Part]) => (
          <Part key={id} />
        ))}
      </main>
    </>
  );
}
