import { Button } from "#web/kit/button.tsx";
import { useForm } from "#web/console/parts/use-form.ts";
import { Form } from "#web/kit/form.tsx";
import type { ConsolePartner } from "#src/contract/console.ts";
import { launchDefaults } from "#src/domain/harm-limits.ts";
import { dayMs } from "#src/domain/units.ts";
import { mayChange } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { Moment } from "#web/kit/time.tsx";
import { say, sayWith } from "#web/console/words.ts";

const usual = {
  days: "14",
  newUsers: String(launchDefaults.newUsers),
  limit: String(launchDefaults.limit),
};

const fields = [
  ["days", say("Days from now"), 90],
  ["newUsers", say("New users in a day"), 10_000_000],
  ["limit", say("Stations harmfully changed in an hour"), 1_000_000],
] as const;

/** Prepares a partner for the days in which most of its users are new, or ends that. */
export function Launch({
  partner,
  changed,
}: {
  partner: ConsolePartner;
  changed: () => Promise<void>;
}) {
  const { launch_until: until } = partner;
  const now = Date.now();
  const isOn = until !== null && until > now;
  const { form, at } = useForm(
    isOn
      ? {
          days: String(Math.ceil((until - now) / dayMs)),
          newUsers: String(partner.launch_new_users),
          limit: String(partner.launch_limit),
        }
      : usual,
  );
  const doing = useDoing();
  const path = `/partners/${partner.id}/launch`;
  const save = async (): Promise<void> => {
    const until = Date.now() + Number(form.days) * dayMs;
    const body = { until, new_users: Number(form.newUsers), limit: Number(form.limit) };
    if ((await doing.run(say("Prepared, takes effect within 15 s"), "POST", path, body)) !== null)
      await changed();
  };
  const end = async (): Promise<void> => {
    const ended = await doing.run(say("The usual limits hold again within 15 s"), "DELETE", path);
    if (ended !== null) await changed();
  };
  return (
    <Form
      send={save}
      doing={doing}
      action={mayChange() && (isOn ? say("Change") : say("Prepare"))}
      plain
      more={isOn && <Button words={say("End now")} disabled={doing.busy} onClick={end} />}
    >
      <h2>{say("Launch")}</h2>
      <p class="soft">
        {say(
          "In the first days of an app most users are new. This lets them in and counts their marks. Marks over the limit are held for review.",
        )}
      </p>
      {isOn && (
        <p>
          {sayWith(
            "Until {day}: {users} new users in a day, {limit} stations harmfully changed in an hour.",
            {
              day: <Moment at={until} />,
              users: String(partner.launch_new_users),
              limit: String(partner.launch_limit),
            },
          )}
        </p>
      )}
      {mayChange() && (
        <div class="grid">
          {fields.map(([name, label, max]) => (
            <TextField key={name} {...{ label, min: 1, max, ...at(name) }} type="number" required />
          ))}
        </div>
      )}
    </Form>
  );
}
