import type { DashboardSession } from "#src/contract/dashboard.ts";
import { signOut } from "#web/dashboard/state.ts";
import { ThemeChoice } from "#web/kit/theme-choice.tsx";

const sections = [
  ["today", "Today"],
  ["requests", "Requests"],
  ["errors", "Errors"],
  ["last-requests", "Last requests"],
  ["hours", "Hours"],
  ["marks", "Marks"],
  ["limits", "Limits"],
  ["keys", "Keys"],
  ["webhooks", "Webhooks"],
  ["first-call", "First call"],
] as const;

/** Whose dashboard it is, the way to its parts, and out. */
export function Header({ session: { partner, key } }: { session: DashboardSession }) {
  return (
    <header class="top">
      <div class="who">
        <strong>{partner}</strong>
        <span class="soft">
          signed in with <code>{key.prefix}…</code>
          {key.label !== "" && ` (${key.label})`}
        </span>
      </div>
      <div class="tools">
        <ThemeChoice />
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
      <nav aria-label="Parts of this page">
        {sections.map(([id, name]) => (
          <a key={id} href={`#${id}`}>
            {name}
          </a>
        ))}
      </nav>
    </header>
  );
}
