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
        hint={known?.state === "no-key" ? words.keyHint : ""}
        placeholder="pk_live_…"
        invalid={fault !== null && fault.state !== "unavailable"}
      >
        {known === null ? <p>{words.checking}</p> : null}
        {fault === null ? null : (
          <p class="fault">{words.states[fault.state as keyof typeof words.states]}</p>
        )}
        {known?.state === "ok" ? <Bound domains={known.domains} reports={known.reports} /> : null}
      </Field>
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
