import { Button } from "#web/kit/button.tsx";
import { choices, choose, wanted } from "#web/embed/choices.ts";
import { forgetKey, keptKeys, prefixOf } from "#web/embed/kept-keys.ts";
import { Field } from "#web/embed/field.tsx";
import { keyState, siteAllowed } from "#web/embed/key-state.ts";
import { words } from "#web/embed/words.ts";

/** The key, its rights, and whether they include the partner's website. */
export const KeyPart = () => {
  const known = keyState.value;
  const allowed = siteAllowed.value;
  const fault = known === null || known.state === "ok" || known.state === "no-key" ? null : known;
  return (
    <>
      <Field
        name="key"
        label={words.key}
        hint={
          known?.state !== "no-key" ? "" : wanted === "" ? words.keyHint : words.keyWanted(wanted)
        }
        placeholder="pk_live_…"
        invalid={fault !== null && fault.state !== "unavailable"}
      >
        {known === null ? <p>{words.checking}</p> : null}
        {fault === null ? null : (
          <p class="fault">{words.states[fault.state as keyof typeof words.states]}</p>
        )}
        {known?.state === "ok" ? <Bound domains={known.domains} reports={known.reports} /> : null}
      </Field>
      <Kept />
      <Field
        name="site"
        label={words.site}
        hint={allowed === null ? words.siteHint : ""}
        placeholder="www.example.com"
        mode="url"
        invalid={allowed === false}
      >
        {allowed === null ? null : (
          <p class={allowed ? "good" : "fault"}>
            {allowed ? words.siteAllowed : words.siteRefused}
          </p>
        )}
      </Field>
    </>
  );
};

/** The keys of this browser: which one is shown, and a way to forget it. */
const Kept = () => {
  const keys = keptKeys.value;
  const key = choices.value.key.trim();
  if (!keys.includes(key)) return null;
  return (
    <div class="kept">
      {keys.length > 1 ? (
        <label class="field">
          {words.keptKeys}
          <select
            value={key}
            onChange={({ currentTarget }) => choose({ key: currentTarget.value })}
          >
            {keys.map((one) => (
              <option key={one} value={one}>
                {prefixOf(one)}…
              </option>
            ))}
          </select>
        </label>
      ) : (
        <p>{words.kept(prefixOf(key))}</p>
      )}
      <Button
        onClick={() => {
          forgetKey(key);
          choose({ key: keptKeys.value[0] ?? "" });
        }}
      >
        {words.forget}
      </Button>
    </div>
  );
};

const Bound = ({ domains, reports }: { domains: readonly string[]; reports: boolean }) => (
  <>
    {domains.length === 0 ? (
      <p class="fault">{words.unbound}</p>
    ) : (
      <>
        <p>{words.bound}</p>
        <ul class="domains">
          {domains.map((domain) => (
            <li key={domain}>{domain}</li>
          ))}
        </ul>
      </>
    )}
    {reports ? null : <p>{words.noReports}</p>}
  </>
);
