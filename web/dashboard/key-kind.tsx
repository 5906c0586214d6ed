import { audience } from "#web/dashboard/state.ts";
import { say } from "#web/dashboard/words.ts";

/** Whether a part of the page shows requests with secret or with publishable keys: one choice for all parts. */
export const KeyKind = () => (
  <select
    aria-label={say("Kind of key")}
    value={audience.value}
    onChange={({ currentTarget }) =>
      (audience.value = currentTarget.value === "widget" ? "widget" : "partner")
    }
  >
    <option value="partner">{say("Secret keys")}</option>
    <option value="widget">{say("Publishable keys")}</option>
  </select>
);
