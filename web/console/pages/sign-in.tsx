import { useEffect, useState } from "preact/hooks";
import type { ConsoleAccount } from "#src/contract/console.ts";
import { account, api } from "#web/console/api.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { SignIn } from "#web/kit/sign-in.tsx";

/** Signing in by name and password, or by an operator key. */
export function SignInPage() {
  const [byKey, setByKey] = useState(false);
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [key, setKey] = useState("");
  /** Null until the server asks for a code. */
  const [code, setCode] = useState<string | null>(null);
  const isAsked = code !== null;
  useEffect(() => {
    if (isAsked) document.querySelector<HTMLInputElement>("[autocomplete=one-time-code]")?.focus();
  }, [isAsked]);
  const send = async (): Promise<string | null> => {
    const body = byKey ? { key } : { name, password, ...(code === null ? {} : { code }) };
    const answer = await api.send<{ account: ConsoleAccount }>("POST", "/session", body);
    if (answer.failure?.code === "sign-in-code-required") setCode("");
    if (answer.failure !== undefined) return answer.failure.words;
    account.value = answer.value.account;
    return null;
  };
  const fields = () => (
    <>
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
            onChange={(value) => {
              setName(value);
              setCode(null);
            }}
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
          {code !== null && (
            <TextField
              label="Code"
              hint="Six digits of your authenticator app"
              value={code}
              onChange={setCode}
              autocomplete="one-time-code"
              maxLength={20}
              required
            />
          )}
        </>
      )}
    </>
  );
  return (
    <main class="sign-in">
      <SignIn
        key={String(byKey)}
        fields={fields}
        send={send}
        other={
          <button type="button" class="plain" onClick={() => setByKey(!byKey)}>
            {byKey ? "Use a password instead" : "Use an operator key instead"}
          </button>
        }
        hint={
          <p class="soft">
            Accounts are created on the server: <code>npm run operator -- account create</code>
          </p>
        }
      />
    </main>
  );
}
