import { Button } from "#web/kit/button.tsx";
import { useEffect, useState } from "preact/hooks";
import type { ConsoleAccount, ConsoleHealth } from "#src/contract/console.ts";
import { account, api, useLoaded } from "#web/console/api.ts";
import { said, tell } from "#web/console/doing.ts";
import { BrandsPage } from "#web/console/pages/brands.tsx";
import { ChancesPage } from "#web/console/pages/chances.tsx";
import { DecisionRecordPage } from "#web/console/pages/decision-record.tsx";
import { DecisionsPage } from "#web/console/pages/decisions.tsx";
import { FeedsPage } from "#web/console/pages/feeds.tsx";
import { ImportsPage } from "#web/console/pages/imports.tsx";
import { IncidentsPage } from "#web/console/pages/incidents.tsx";
import { LogPage } from "#web/console/pages/log.tsx";
import { PairsPage } from "#web/console/pages/pairs.tsx";
import { OverviewPage } from "#web/console/pages/overview.tsx";
import { PeoplePage } from "#web/console/pages/people.tsx";
import { PartnerPage } from "#web/console/pages/partner.tsx";
import { PartnersPage } from "#web/console/pages/partners.tsx";
import { LimitRequestsPage } from "#web/console/pages/limit-requests.tsx";
import { ReviewPage } from "#web/console/pages/review.tsx";
import { RollbackPage } from "#web/console/pages/rollback.tsx";
import { SessionsPage } from "#web/console/pages/sessions.tsx";
import { SignInPage } from "#web/console/pages/sign-in.tsx";
import { StationPage } from "#web/console/pages/station.tsx";
import { StationsPage } from "#web/console/pages/stations.tsx";
import { SuggestionsPage } from "#web/console/pages/suggestions.tsx";
import { Palette } from "#web/console/parts/palette.tsx";
import { place } from "#web/console/place.ts";
import { figures, queuesPage, sitePages } from "#web/console/site.ts";
import { say } from "#web/console/words.ts";
import { LanguageChoice } from "#web/kit/language-choice.tsx";
import type { Resource } from "#web/kit/resource.tsx";
import { ThemeChoice } from "#web/kit/theme-choice.tsx";

/** The console: signing in, then its pages by the address behind `#`. */
export function App() {
  useEffect(() => {
    void api.get<{ account: ConsoleAccount }>("/session").then((answer) => {
      account.value = answer.failure === undefined ? answer.value.account : null;
    });
  }, []);
  if (account.value === undefined) return null;
  if (account.value === null) return <SignInPage language={<Languages />} />;
  return <Signed name={account.value.name} role={account.value.role} />;
}

/** The choice of a language, as soon as the page has two. */
const Languages = () =>
  document.documentElement.dataset["languages"] === undefined ? null : <LanguageChoice />;

const healthEveryMs = 15_000;

function Signed({ name, role }: { name: string; role: string }) {
  const health = useLoaded<ConsoleHealth>("/health", healthEveryMs);
  const { path } = place.value;
  const newest = health.value.value;
  useEffect(() => {
    figures.value = newest?.marks ?? null;
  }, [newest]);
  const [finds, setFinds] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!isFindKey(event)) return;
      event.preventDefault();
      // A question that waits for its answer comes first.
      setFinds((open) => !open && document.querySelector("dialog[open]") === null);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  const signOut = async (): Promise<void> => {
    const { failure } = await api.send("DELETE", "/session");
    if (failure === undefined) account.value = null;
    else if (failure.code !== "session-over") tell(failure.words);
  };
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={toContent}>
        {say("Skip to content")}
      </a>
      <header>
        <a class="brand" href="#/">
          Fuelmark <span>{say("console")}</span>
        </a>
        <p class="who">
          {name} <span class="tag">{role}</span>
        </p>
        <div class="tools">
          <Button
            aria-haspopup="dialog"
            aria-keyshortcuts="Control+K Meta+K"
            onClick={() => setFinds(true)}
          >
            {say("Find")} <kbd aria-hidden="true">Ctrl K</kbd>
          </Button>
          <Languages />
          <ThemeChoice />
          <Button words={say("Sign out")} onClick={signOut} />
        </div>
      </header>
      <Menu path={path} marks={figures.value} />
      <main id="content" tabIndex={-1}>
        {pageOf(path, health)}
      </main>
      {finds && <Palette close={() => setFinds(false)} />}
      <div class="said" role="status">
        {said.value !== null && <p>{said.value}</p>}
      </div>
    </div>
  );
}

// The key's place counts too: with a Cyrillic layout it has another letter.
const isFindKey = ({ ctrlKey, metaKey, altKey, shiftKey, key, code }: KeyboardEvent): boolean =>
  (ctrlKey || metaKey) && !altKey && !shiftKey && (key.toLowerCase() === "k" || code === "KeyK");

// The address behind # is the page's: a plain link there would leave it.
function toContent(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

type Figures = NonNullable<ConsoleHealth["marks"]>;

function Menu({ path, marks }: { path: string; marks: Figures | null }) {
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  const here = sitePages.find((page) => isAt(path, page.path))?.text ?? say("Menu");
  return (
    <nav class={open ? "menu open" : "menu"} aria-label={say("Console")}>
      <Button aria-expanded={open} onClick={() => setOpen(!open)}>
        <span>
          <span class="unseen">{say("Menu")}: </span>
          {here}
        </span>
        <span aria-hidden="true">{open ? "▴" : "▾"}</span>
      </Button>
      <ul>
        {sitePages.map(({ path: to, text, count }) => {
          const waiting = marks === null ? 0 : (count?.(marks) ?? 0);
          return (
            <li key={to}>
              <a href={`#${to}`} aria-current={isAt(path, to) ? "page" : undefined}>
                {text}
                {waiting > 0 && (
                  <span class="count">
                    {waiting}
                    <span class="unseen"> {say("waiting{there}", { there: "" })}</span>
                  </span>
                )}
              </a>
            </li>
          );
        })}
        {account.value?.role === "operator" && (
          <li>
            <a href={queuesPage.path}>{queuesPage.text}</a>
          </li>
        )}
      </ul>
    </nav>
  );
}

const isAt = (path: string, to: string): boolean =>
  to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`);

function pageOf(path: string, health: Resource<ConsoleHealth>) {
  const [, noun, id] = path.split("/");
  if (noun === "partners")
    return id === undefined ? <PartnersPage /> : <PartnerPage key={id} id={id} />;
  if (noun === "stations")
    return id === undefined ? <StationsPage /> : <StationPage key={id} id={id} />;
  if (noun === "limit-requests") return <LimitRequestsPage changed={health.load} />;
  if (noun === "review")
    return id === undefined ? (
      <ReviewPage changed={health.load} />
    ) : (
      <DecisionRecordPage key={id} id={id} of="review" />
    );
  if (noun === "rollback")
    return id === undefined ? (
      <RollbackPage key={place.value.query.toString()} />
    ) : (
      <DecisionRecordPage key={id} id={id} of="rollback" />
    );
  if (noun === "suggestions") return <SuggestionsPage />;
  if (noun === "chances") return <ChancesPage />;
  if (noun === "people") return <PeoplePage />;
  if (noun === "brands") return <BrandsPage />;
  if (noun === "pairs") return <PairsPage />;
  if (noun === "imports") return <ImportsPage />;
  if (noun === "feeds") return <FeedsPage />;
  if (noun === "incidents") return <IncidentsPage />;
  if (noun === "decisions") return <DecisionsPage key={id} entry={id} />;
  if (noun === "log") return <LogPage />;
  if (noun === "sessions") return <SessionsPage />;
  if (noun === "") return <OverviewPage health={health} />;
  return (
    <section>
      <h1>{say("Page not found")}</h1>
      <p>
        <a href="#/">{say("Back to the overview")}</a>
      </p>
    </section>
  );
}
