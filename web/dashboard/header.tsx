import { Button } from "#web/kit/button.tsx";
import type { DashboardSession } from "#src/contract/dashboard.ts";
import { signOut } from "#web/dashboard/state.ts";
import { Moment } from "#web/kit/time.tsx";
import { ThemeChoice } from "#web/kit/theme-choice.tsx";
import { say, sayWith } from "#web/dashboard/words.ts";
import { LanguageChoice } from "#web/kit/language-choice.tsx";

/** The partner's name, the choices for the whole page, and the sign-out. */
export function Header({
  session: { partner, key, link, expires },
}: {
  session: DashboardSession;
}) {
  return (
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
        <Button words={say("Sign out")} onClick={signOut} />
      </div>
    </header>
  );
}
