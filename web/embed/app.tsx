import { choices, embedding, serviceAddress } from "#web/embed/choices.ts";
import { cityUnknown } from "#web/embed/cities.ts";
import { embedLine } from "#web/embed/embed-line.ts";
import { KeyPart } from "#web/embed/key-part.tsx";
import { keyState } from "#web/embed/key-state.ts";
import { LookPart } from "#web/embed/look-part.tsx";
import { PlacePart } from "#web/embed/place-part.tsx";
import { Preview } from "#web/embed/preview.tsx";
import { words } from "#web/embed/words.ts";
import { CopyButton } from "#web/kit/copy-button.tsx";

/** A form, the line that comes of it, and the map as it will be. */
export const App = () => (
  <main>
    <header>
      <h1>{words.title}</h1>
      <p class="soft">{words.lead}</p>
    </header>
    <form class="card" onSubmit={(event) => event.preventDefault()}>
      <KeyPart />
      <PlacePart />
      <LookPart />
    </form>
    <div class="outcome">
      <Line />
      <Preview />
    </div>
  </main>
);

const Line = () => {
  const chosen = embedding.value;
  // A secret key must not get into a page, not even by way of this one.
  const isSecret = keyState.value?.state === "secret-key";
  const key = isSecret || chosen?.key === "" ? "pk_live_…" : (chosen?.key ?? "");
  // The dots of a missing key are for people, not for addresses.
  const text = chosen === null ? null : embedLine({ ...chosen, key }).replace("%E2%80%A6", "…");
  return (
    <section class="card" aria-labelledby="line-title">
      <h2 id="line-title">{words.line}</h2>
      {text === null ? (
        <p class="fault">{words.mend}</p>
      ) : (
        <>
          {/* Focusable, so that keys can scroll it. */}
          <pre tabIndex={0} role="region" aria-labelledby="line-title">
            <code>{text}</code>
          </pre>
          {keyState.value?.state !== "ok" ? (
            <p class="fault">{words.copyWaits}</p>
          ) : choices.value.place === "city" && cityUnknown.value ? (
            <p class="fault">{words.copyWaitsForCity}</p>
          ) : (
            <CopyButton text={text} {...words.copy} />
          )}
        </>
      )}
      <p class="soft small">{words.lineHint}</p>
      <p class="soft small">
        {words.policyHint} <code>frame-src {new URL(serviceAddress()).origin}</code>
      </p>
    </section>
  );
};
