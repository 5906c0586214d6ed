import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { parting, signIn } from "#web/dashboard/state.ts";
import type { Failure } from "#web/kit/page-api.ts";
import { ThemeChoice } from "#web/kit/theme-choice.tsx";

/** The way in: a secret key, exchanged for a session and forgotten. */
export function SignIn() {
  const field = useRef<HTMLInputElement>(null);
  const failure = useSignal<Failure | null>(null);
  const isBusy = useSignal(false);
  const isShown = useSignal(false);
  useEffect(() => field.current?.focus(), []);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const input = field.current!;
    if (input.value.trim() === "" || isBusy.value) return input.focus();
    isBusy.value = true;
    failure.value = await signIn(input.value);
    isBusy.value = false;
    if (failure.value !== null) input.focus();
  };

  return (
    <main class="sign-in">
      <div class="card">
        <h1>Partner dashboard</h1>
        <p class="soft">Your requests, limits and keys for the fuel-availability API.</p>
        {parting.value !== "" && failure.value === null && (
          <p class="note" role="status">
            {parting.value}
          </p>
        )}
        <form onSubmit={(event) => void submit(event)}>
          <label for="key">Secret key</label>
          <input
            ref={field}
            id="key"
            class={isShown.value ? "key" : "key hidden"}
            type="text"
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            placeholder="svc_live_…"
            maxLength={200}
            aria-invalid={failure.value !== null}
            aria-describedby="key-hint key-fault"
          />
          <label class="check">
            <input
              type="checkbox"
              checked={isShown.value}
              onChange={() => (isShown.value = !isShown.value)}
            />
            Show the key
          </label>
          <p id="key-fault" class="fault" role="alert">
            {failure.value?.words ?? ""}
          </p>
          <button type="submit" class="primary" disabled={isBusy.value}>
            {isBusy.value ? "Signing in …" : "Sign in"}
          </button>
          <p id="key-hint" class="soft small">
            The key is exchanged for a session of at most 12 hours. This browser does not store the
            key. If you have no key or have lost it, ask the operator: a key is shown once and
            cannot be recovered.
          </p>
        </form>
      </div>
      <ThemeChoice />
    </main>
  );
}
