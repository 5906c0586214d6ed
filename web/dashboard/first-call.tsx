import { Button } from "#web/kit/button.tsx";
import { useSignal } from "@preact/signals";
import { examples } from "#web/dashboard/examples.ts";
import { Section } from "#web/dashboard/section.tsx";
import { isNew, session } from "#web/dashboard/state.ts";
import { CopyButton } from "#web/kit/copy-button.tsx";
import { say, sayWith } from "#web/dashboard/words.ts";

/** The guide to a first call; at the top as long as there was none. */
export function FirstCall() {
  const chosen = useSignal(0);
  const list = examples(session.value?.base_url ?? "");
  const { name, text } = list[chosen.value]!;
  return (
    <Section
      id="first-call"
      title={isNew.value ? say("No requests yet: make your first call") : say("First call")}
      tools={
        <div class="choice" role="group" aria-label={say("Language of the example")}>
          {list.map((one, n) => (
            <Button
              key={one.name}
              aria-pressed={n === chosen.value}
              onClick={() => (chosen.value = n)}
            >
              {one.name}
            </Button>
          ))}
        </div>
      }
    >
      <p class="soft small">
        {sayWith(
          "Set the environment variable {name} to your secret key. The answer has three stations, and {asOf} for your first call of {delta}.",
          {
            name: <code>FUELMARK_KEY</code>,
            asOf: <code>as_of</code>,
            delta: <code>/stations/delta</code>,
          },
        )}
      </p>
      <div class="code">
        {/* Focusable, so that keys can scroll it. */}
        <pre tabIndex={0} role="region" aria-label={say("Example in {name}", { name })}>
          <code>{text}</code>
        </pre>
        <CopyButton text={text} />
      </div>
      <p class="small">
        <a href="../docs">{say("Full API documentation")}</a>
      </p>
    </Section>
  );
}
