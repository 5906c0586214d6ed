import { changesOf, useForm } from "#web/console/parts/use-form.ts";
import type { ConsoleKey, ConsolePartner, ConsoleUsageDay } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useAsking } from "#web/kit/asking.tsx";
import { useDoing } from "#web/console/doing.ts";
import { Launch } from "#web/console/parts/launch.tsx";
import { Keys } from "#web/console/pages/keys.tsx";
import { SelectField, SwitchField, TextField } from "#web/console/parts/field.tsx";
import { belowUse, LimitFields } from "#web/console/parts/limit-fields.tsx";
import { UsageBars } from "#web/console/parts/usage-bars.tsx";
import { Webhooks } from "#web/console/parts/webhooks.tsx";
import { Moment } from "#web/kit/time.tsx";
import { Form } from "#web/kit/form.tsx";
import { Loaded } from "#web/kit/resource.tsx";
import { say, sayWith } from "#web/console/words.ts";

interface Answer {
  partner: ConsolePartner;
  keys: ConsoleKey[];
  days: ConsoleUsageDay[];
  cache_default_s: number;
}

/** One partner: its use, its keys, and every switch of the contract. */
export function PartnerPage({ id }: { id: string }) {
  const loading = useLoaded<Answer>(`/partners/${id}`);
  return (
    <section>
      <p class="trail">
        <a href="#/partners">{say("Partners")}</a>
      </p>
      <Loaded of={loading}>
        {({ partner, keys, days, cache_default_s: cacheDefault }) => (
          <>
            <h1>
              {partner.name} <span class="soft">#{partner.id}</span>
            </h1>
            <p class="soft">
              {sayWith("created {day}", { day: <Moment at={partner.created} /> })}
              {partner.pending_request && (
                <>
                  {" · "}
                  <a href="#/limit-requests">{say("asks for other limits")}</a>
                </>
              )}
              {" · "}
              <a href={`#/rollback?partner=${partner.id}`}>{say("withdraw marks")}</a>
            </p>
            <div class="card">
              <h2>{say("Requests per day")}</h2>
              <UsageBars days={days} daily={partner.daily} />
            </div>
            <Keys partnerId={partner.id} keys={keys} changed={loading.load} />
            <Webhooks partnerId={partner.id} />
            <Settings
              partner={partner}
              peak={Math.max(partner.used_today, ...days.map(({ requests }) => requests))}
              cacheDefault={cacheDefault}
              changed={loading.load}
            />
            <Launch partner={partner} changed={loading.load} />
          </>
        )}
      </Loaded>
    </section>
  );
}

const typedOf = (partner: ConsolePartner, cacheDefault: number) => ({
  name: partner.name,
  rpm: String(partner.rpm),
  daily: String(partner.daily),
  enabled: partner.enabled,
  bind_ips: partner.bind_ips,
  accept_remote: partner.accept_remote,
  cache: partner.cache_ttl_s === null ? "default" : "own",
  ttl: String(partner.cache_ttl_s ?? cacheDefault),
});

const settingsOf = ({ cache, ttl, rpm, daily, ...rest }: ReturnType<typeof typedOf>) => ({
  ...{ ...rest, rpm: Number(rpm), daily: Number(daily) },
  cache_ttl_s: cache === "default" ? null : Number(ttl),
});

function Settings({
  partner,
  peak,
  cacheDefault,
  changed,
}: {
  partner: ConsolePartner;
  /** Requests of its busiest day. */
  peak: number;
  cacheDefault: number;
  changed: () => Promise<void>;
}) {
  const { id } = partner;
  const start = typedOf(partner, cacheDefault);
  const { form, set, forget, at, on } = useForm(start);
  const { ask, question } = useAsking();
  const doing = useDoing();
  const locked = !mayChange();
  const save = async (): Promise<void> => {
    const body = changesOf(settingsOf(start), settingsOf(form));
    const words = say("Saved, takes effect within 15 s");
    if ((await doing.run(words, "PATCH", `/partners/${id}`, body)) === null) return;
    await changed();
    forget();
  };
  const submit = (): void => {
    // Shutting a partner out stops a running service, and so do limits below its use: that is asked for.
    const isEnd = partner.enabled && !form.enabled;
    const limits = { rpm: Number(form.rpm), daily: Number(form.daily) };
    ask({
      title: isEnd
        ? say("Block {partner}?", { partner: partner.name })
        : say("Set limits below the use?"),
      why: isEnd
        ? say(
            "All its servers and pages get 403 within 15 seconds, until you switch access on again.",
          )
        : limits.daily < partner.daily
          ? belowUse(limits, { minute: 0, day: peak })
          : null,
      action: isEnd ? say("Block") : say("Save"),
      danger: true,
      run: save,
    });
  };
  return (
    <>
      {question}
      <Form
        send={submit}
        doing={doing}
        action={!locked && say("Save")}
        disabled={Object.keys(changesOf(start, form)).length === 0}
      >
        <h2>{say("Limits and switches")}</h2>
        <div class="grid">
          <TextField
            label={say("Name")}
            {...at("name")}
            maxLength={200}
            required
            disabled={locked}
          />
          <LimitFields rpm={form.rpm} daily={form.daily} onChange={set} disabled={locked} />
          <SelectField
            label={say("Cache time of rectangles for its pages")}
            value={form.cache}
            options={[
              ["default", say("default ({n} s)", { n: String(cacheDefault) })],
              ["own", say("set here")],
            ]}
            onChange={(cache) => set({ cache })}
            disabled={locked}
          />
          {form.cache === "own" && (
            <TextField
              label={say("Seconds (0: never)")}
              type="number"
              min={0}
              max={3600}
              {...at("ttl")}
              required
              disabled={locked}
            />
          )}
        </div>
        <SwitchField
          label={say("Access is on")}
          hint={say("Off: every request is refused with 403 partner-disabled.")}
          {...on("enabled")}
          disabled={locked}
        />
        <SwitchField
          label={say("Secret keys work only from their addresses")}
          hint={say("A key without addresses always works from any address.")}
          {...on("bind_ips")}
          disabled={locked}
        />
        <SwitchField
          label={say("Marks without a position at the station are accepted")}
          hint={say("Off: they are refused with 422 too-far.")}
          {...on("accept_remote")}
          disabled={locked}
        />
      </Form>
    </>
  );
}
