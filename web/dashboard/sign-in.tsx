import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { parting, signIn } from "#web/dashboard/state.ts";
import { SignIn } from "#web/kit/sign-in.tsx";
import { ThemeChoice } from "#web/kit/theme-choice.tsx";
import { say } from "#web/dashboard/words.ts";
import { LanguageChoice } from "#web/kit/language-choice.tsx";

/** A secret key, exchanged for a session and forgotten. */
export function SignInPage() {
  const field = useRef<HTMLInputElement>(null);
  const isShown = useSignal(false);
  useEffect(() => field.current?.focus(), []);

  const send = async (): Promise<string | null> => {
    const input = field.current!;
    const failure = input.value.trim() === "" ? null : await signIn(input.value);
    input.focus();
    return failure?.words ?? null;
  };
  const fields = (isRefused: boolean) => (
    <>
      <h1>{say("Partner dashboard")}</h1>
      <p class="soft">{say("Your requests, limits and keys for the fuel-availability API.")}</p>
      {parting.value !== "" && !isRefused && (
        <p class="note" role="status">
          {parting.value}
        </p>
      )}
      <label for="key">{say("Secret key")}</label>
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
        aria-invalid={isRefused}
        aria-describedby="key-hint sign-in-fault"
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isShown.value}
          onChange={() => (isShown.value = !isShown.value)}
        />
        {say("Show the key")}
      </label>
    </>
  );
  return (
    <main class="sign-in">
      <SignIn
        fields={fields}
        send={send}
        hint={
          <p id="key-hint" class="soft small">
            {say(
              "The key is exchanged for a session of at most 12 hours. This browser does not store the key. If you have no key or have lost it, ask the operator: a key is shown once and cannot be recovered.",
            )}
          </p>
        }
      />
      <div class="tools">
        <LanguageChoice />
        <ThemeChoice />
      </div>
    </main>
  );
}
