import type { ShownIncident } from "#src/contract/dashboard.ts";
import { overview } from "#web/dashboard/state.ts";
import { say, sayWith } from "#web/dashboard/words.ts";
import { Moment } from "#web/kit/time.tsx";
import { language } from "#web/kit/words.ts";

/** Open incidents of the service, above all else: who sees odd figures looks here first. */
export function Incidents() {
  const open = overview.value.value?.incidents ?? [];
  if (open.length === 0) return null;
  return (
    <div class="note bad" role="status">
      {open.map(({ id, title, text, since }) => (
        <p key={id}>
          <strong>{inWords(title)}</strong>{" "}
          <span class="soft small">{sayWith("since {day}", { day: <Moment at={since} /> })}</span>
          <br />
          {inWords(text)}
        </p>
      ))}
      <p>
        <a href="../status">{say("Status of the service")}</a>
      </p>
    </div>
  );
}

const inWords = ({ en, ru }: ShownIncident["title"]) =>
  language === "en" ? en : (ru ?? <span lang="en">{en}</span>);
