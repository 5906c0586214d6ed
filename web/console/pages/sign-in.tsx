import { Button } from "#web/kit/button.tsx";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ConsoleAccount } from "#src/contract/console.ts";
import { account, api } from "#web/console/api.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { say, sayWith } from "#web/console/words.ts";
import { SignIn } from "#web/kit/sign-in.tsx";

/** Signing in by name and password, or by an operator key. */
export function SignInPage({ language }: { language: ComponentChildren }) {
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
        Fuelmark <span class="soft">{say("console")}</span>
      </h1>
      {byKey ? (
        <TextField
          label={say("Operator key")}
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
            // Russian has another word for the name of a partner or a station.
            label={say("Name{ofAccount}", { ofAccount: "" })}
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
            label={say("Password")}
            type="password"
            value={password}
            onChange={setPassword}
            autocomplete="current-password"
            maxLength={200}
            required
          />
          {code !== null && (
            <TextField
              label={say("Code")}
              hint={say("Six digits of your authenticator app")}
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
          <Button class="plain" onClick={() => setByKey(!byKey)}>
            {byKey ? say("Use a password instead") : say("Use an operator key instead")}
          </Button>
        }
        hint={
          <p class="soft">
            {sayWith("Accounts are created on the server: {command}", {
              command: <code>npm run operator -- account create</code>,
            })}
          </p>
        }
      />
      {language}
    </main>
  );
}
