import { Button } from "#web/kit/button.tsx";
import { useEffect, useState } from "preact/hooks";
import { embedding } from "#web/embed/choices.ts";
import { type Embedding, mapAddress } from "#web/embed/embed-line.ts";
import { keyState } from "#web/embed/key-state.ts";
import { words } from "#web/embed/words.ts";

const restMs = 500;

/** The map as it was chosen, a moment after the last change. */
export const Preview = () => {
  const rested = useRested(embedding.value);
  const isSample = hasSample && keyState.value?.state === "no-key";
  // The map weighs twenty times this page: without a key it is loaded when somebody asks for it.
  const [isAsked, ask] = useState(false);
  const shown = (isSample && isAsked) || keyState.value?.state === "ok" ? rested : null;
  return (
    <section class="card preview" aria-labelledby="preview-title">
      <h2 id="preview-title">{words.preview}</h2>
      {isSample && !isAsked ? (
        <Button words={words.previewAsk} onClick={() => ask(true)} />
      ) : shown === null ? (
        <p class="empty">{words.previewWaits}</p>
      ) : (
        <>
          <div class="frame">
            <iframe
              // A new frame for each address: a changed one would stand in the browser's history.
              key={previewAddress(shown)}
              src={previewAddress(shown)}
              title={shown.title}
              width={shown.width}
              height={shown.heightPx}
              allow="geolocation; fullscreen"
            />
          </div>
          <p class="soft">{isSample ? words.previewSample : words.previewHint}</p>
        </>
      )}
    </section>
  );
};

/** Whether the operator has a map of its own, which needs no key. */
const hasSample = document.querySelector<HTMLMetaElement>('meta[name="sample"]')?.content === "1";

/** The map of the server that this page comes from, under whichever name it was asked for; without a key its own. */
const previewAddress = (chosen: Embedding): string =>
  mapAddress({
    ...chosen,
    address: new URL(chosen.key === "" ? "../" : "./", location.href).href,
  });

/** The last value that could be used, once it has not changed for a moment. */
function useRested(value: Embedding | null): Embedding | null {
  const [rested, rest] = useState(value);
  const wanted = value === null ? "" : JSON.stringify(value);
  useEffect(() => {
    if (value === null) return undefined;
    const timer = setTimeout(() => rest(value), restMs);
    return () => clearTimeout(timer);
  }, [wanted]);
  return rested;
}
