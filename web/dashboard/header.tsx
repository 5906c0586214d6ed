import type { DashboardSession } from "#src/contract/dashboard.ts";
import { signOut } from "#web/dashboard/state.ts";
import { ThemeChoice } from "#web/kit/theme-choice.tsx";
import { say, sayWith } from "#web/dashboard/words.ts";
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
  ["first-call", say("First call")],
] as const;

/** The partner's name, links to the dashboard's parts, and the sign-out. */
export function Header({ session: { partner, key } }: { session: DashboardSession }) {
  return (
    <header class="top">
      <div class="who">
        <strong>{partner}</strong>
        <span class="soft">
          {sayWith("signed in with {key}", { key: <code>{key.prefix}…</code> })}
          {key.label !== "" && ` (${key.label})`}
        </span>
      </div>
      <div class="tools">
        <LanguageChoice />
        <ThemeChoice />
        <button type="button" onClick={() => void signOut()}>
          {say("Sign out")}
        </button>
      </div>
      <nav aria-label={say("Parts of this page")}>
        {sections.map(([id, name]) => (
          <a key={id} href={`#${id}`}>
            {name}
          </a>
        ))}
      </nav>
    </header>
  );
}
