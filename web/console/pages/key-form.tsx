import { changesOf, useForm } from "#web/console/parts/use-form.ts";
import { useState } from "preact/hooks";
import type { ConsoleKey } from "#src/contract/console.ts";
import { minuteMs } from "#src/domain/units.ts";
import { useAsking } from "#web/kit/asking.tsx";
import { useDoing } from "#web/console/doing.ts";
import { SelectField, SwitchField, TextField } from "#web/console/parts/field.tsx";
import { Confirm } from "#web/kit/confirm.tsx";
import { Fault } from "#web/kit/fault.tsx";
import { say } from "#web/console/words.ts";

interface Props {
  partnerId: number;
  /** Null for a new key. */
  before: ConsoleKey | null;
  /** Called at the end; `key` is the text of a new key. */
  done: (key: string | null) => Promise<void>;
  close: () => void;
}

/** A new key, or other settings for one. */
export function KeyForm({ partnerId, before, done, close }: Props) {
  const [kind, setKind] = useState<ConsoleKey["kind"]>(before?.kind ?? "secret");
  const start = typedOf(before);
  const { form, at, on } = useForm(start);
  const doing = useDoing();
  const { ask, question } = useAsking();
  const send = async (): Promise<void> => {
    const settings = settingsOf(kind, form);
    if (before !== null) {
      const changes = changesOf(settingsOf(kind, start), settings);
      if (Object.keys(changes).length === 0) return close();
      const words = say("Saved, takes effect within 15 s");
      const saved = await doing.run(words, "PATCH", `/keys/${before.id}`, changes);
      if (saved !== null) await done(null);
      return;
    }
    const body = { partner_id: partnerId, kind, ...settings };
    const made = await doing.run<{ key: string }>(say("The key was issued"), "POST", "/keys", body);
    if (made !== null) await done(made.key);
  };
  const isNowhere = kind === "publishable" && form.bound.trim() === "";
  return (
    <>
      <Confirm
        title={
          before === null ? say("Issue a key") : say("Change {prefix}…", { prefix: before.prefix })
        }
        action={before === null ? say("Issue it") : say("Save")}
        busy={doing.busy}
        onConfirm={() =>
          ask({
            title: say("A key without a domain?"),
            why: isNowhere
              ? say("It has 0 domains: every website that uses it gets 403 until you add one.")
              : null,
            action: before === null ? say("Issue it") : say("Save"),
            danger: true,
            run: send,
          })
        }
        onCancel={close}
      >
        {before === null && (
          <SelectField
            label={say("Kind")}
            value={kind}
            options={[
              ["secret", say("secret: for servers")],
              ["publishable", say("publishable: for web pages")],
            ]}
            onChange={(value) => setKind(value === "publishable" ? value : "secret")}
          />
        )}
        <TextField
          label={
            kind === "secret"
              ? say("Addresses and CIDR blocks")
              : say("Domains, with their subdomains")
          }
          hint={
            kind === "secret"
              ? say("Separated by commas. Empty: any address.")
              : say("Separated by commas: maps.example, shop.example")
          }
          {...at("bound")}
        />
        <TextField label={say("Note for yourself")} {...at("label")} maxLength={200} />
        <TextField
          label={say("Devices needed to publish")}
          hint={say(
            "0: the default rules. 1: the first mark publishes. 3 or more: this number of devices.",
          )}
          type="number"
          min={0}
          max={1000}
          {...at("confirm")}
          required
        />
        <TextField
          label={say("Stations harmfully changed in an hour before review")}
          type="number"
          min={1}
          max={1_000_000}
          {...at("massNo")}
          placeholder={say("default for new keys")}
          required={before !== null}
        />
        <TextField
          label={say("Expires at (your time), empty: never")}
          type="datetime-local"
          {...at("expires")}
        />
        <SwitchField label={say("May send marks")} {...on("reports")} />
        <Fault words={doing.fault} />
      </Confirm>
      {question}
    </>
  );
}

const typedOf = (key: ConsoleKey | null) => ({
  label: key?.label ?? "",
  bound: [...(key?.domains ?? []), ...(key?.ips ?? [])].join(", "),
  confirm: String(key?.confirm_min ?? 0),
  reports: key?.reports ?? true,
  massNo: key === null ? "" : String(key.mass_no_limit),
  expires: key?.expires == null ? "" : localText(key.expires),
});

function settingsOf(
  kind: ConsoleKey["kind"],
  { label, bound, confirm, reports, massNo, expires }: ReturnType<typeof typedOf>,
) {
  const bounds = bound.split(/[\s,]+/).filter((one) => one !== "");
  return {
    label,
    ...(kind === "secret" ? { ips: bounds } : { domains: bounds }),
    confirm_min: Number(confirm),
    reports,
    ...(massNo === "" ? {} : { mass_no_limit: Number(massNo) }),
    expires: expires === "" ? null : new Date(expires).getTime(),
  };
}

/** A moment as a `datetime-local` field has it, in the viewer's zone. */
export function localText(at: number): string {
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * minuteMs).toISOString().slice(0, 16);
}
