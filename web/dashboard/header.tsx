import type { DashboardSession } from "#src/contract/dashboard.ts";
import { signOut } from "#web/dashboard/state.ts";
import { Moment } from "#web/kit/time.tsx";
import { ThemeChoice } from "#web/kit/theme-choice.tsx";
import { say, sayWith } from "#web/dashboard/words.ts";
import { KeyKind } from "#web/dashboard/key-kind.tsx";
import { LanguageChoice } from "#web/kit/language-choice.tsx";

const sections = [
  ["today", say("Today")],
  ["requests", say("Requests")],
  ["errors", say("Errors")],
  ["last-requests", say("Last requests")],
  ["hours", say("Hours")],
  ["marks", say("Marks")],
  ["limits", say("Limits")],
  ["keys", say("Keys")],
  ["webhooks", say("Webhooks")],
  ["links", say("Links")],
  ["first-call", say("First call")],
] as const;

/** The partner's name and the sign-out; below, links to the dashboard's parts, and the kind of key of them all. */
export function Header({
  session: { partner, key, link, expires },
  isNew,
}: {
  session: DashboardSession;
  /** There were no requests: the first call comes first. */
  isNew: boolean;
}) {
  const own = sections.filter(([id]) => link === null || !["webhooks", "links"].includes(id));
  const shown = isNew ? [...own.slice(-1), ...own.slice(0, -1)] : own;
  return (
    <>
      <header class="top">
        <div class="who">
          <strong>{partner}</strong>
          <span class="soft">
            {link !== null
              ? sayWith("to read, by the link for {label}, until {day}", {
                  label: <b>{link}</b>,
                  day: <Moment at={expires} />,
                })
              : sayWith("signed in with {key}", { key: <code>{key.prefix}…</code> })}
            {link === null && key.label !== "" && ` (${key.label})`}
          </span>
        </div>
        <div class="tools">
          <LanguageChoice />
          <ThemeChoice />
          <button type="button" onClick={() => void signOut()}>
            {say("Sign out")}
          </button>
        </div>
      </header>
      <nav class="parts" aria-label={say("Parts of this page")}>
        <KeyKind />
        {shown.map(([id, name]) => (
          <a key={id} href={`#${id}`}>
            {name}
          </a>
        ))}
      </nav>
    </>
  );
}
