import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Fault } from "#web/kit/fault.tsx";
import { say } from "#web/kit/say.ts";

/** The sign-in form: its fields, the reason of a refusal, and the button. */
export function SignIn({
  fields,
  send,
  other,
  hint,
}: {
  fields: (isRefused: boolean) => ComponentChildren;
  /** Resolves to the reason of a refusal; to null otherwise. */
  send: () => Promise<string | null>;
  /** Another way in. */
  other?: ComponentChildren;
  hint: ComponentChildren;
}) {
  const fault = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    isBusy.value = true;
    fault.value = await send();
    isBusy.value = false;
  };
  return (
    <form class="card" onSubmit={(event) => void submit(event)}>
      {fields(fault.value !== null)}
      <Fault words={fault.value} id="sign-in-fault" />
      <div class="buttons">
        <button type="submit" class="primary" disabled={isBusy.value}>
          {isBusy.value ? say("Signing in …") : say("Sign in")}
        </button>
        {other}
      </div>
      {hint}
    </form>
  );
}
