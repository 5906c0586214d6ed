import { useState } from "preact/hooks";
import type { ConsoleAccount } from "#src/contract/console.ts";
import { account, call } from "#web/console/api.ts";
import { TextField } from "#web/console/parts/field.tsx";

/** Signing in by name and password, or by an operator key. */
export function SignIn() {
  const [byKey, setByKey] = useState(false);
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [key, setKey] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const answer = await call<{ account: ConsoleAccount }>(
      "POST",
      "/session",
      byKey ? { key } : { name, password },
    );
    setBusy(false);
    if (answer.ok) account.value = answer.body.account;
    else setFault(answer.detail);
  };
  return (
    <main class="sign-in">
      <form class="card" onSubmit={(event) => void send(event)}>
        <h1>
          Fuelmark <span class="soft">console</span>
        </h1>
        {byKey ? (
          <TextField
            label="Operator key"
            type="password"
            value={key}
            onChange={setKey}
            autocomplete="current-password"
            placeholder="op_live_…"
            maxLength={200}
            required
          />
        ) : (
          <>
            <TextField
              label="Name"
              value={name}
              onChange={setName}
              autocomplete="username"
              maxLength={80}
              required
            />
            <TextField
              label="Password"
              type="password"
              value={password}
              onChange={setPassword}
              autocomplete="current-password"
              maxLength={200}
              required
            />
          </>
        )}
        {fault !== null && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            {busy ? "Signing in …" : "Sign in"}
          </button>
          <button
            type="button"
            class="plain"
            onClick={() => {
              setByKey(!byKey);
              setFault(null);
            }}
          >
            {byKey ? "Use a password instead" : "Use an operator key instead"}
          </button>
        </div>
        <p class="soft">
          Accounts are created on the server: <code>npm run operator -- account create</code>
        </p>
      </form>
    </main>
  );
}
