import { SelectField, TextField } from "#web/console/parts/field.tsx";
import { partnerName } from "#web/console/parts/selection.ts";
import { say } from "#web/console/words.ts";

/** A person by the name under which the service was told of it: `partner` "" is the map, `name` its device's id. */
export interface PersonName {
  partner: string;
  name: string;
}

/** The name as the server takes it. */
export const personOf = ({ partner, name }: PersonName): object =>
  partner === "" ? { device: name } : { partner: Number(partner), user_ref: name };

/** A partner's user, or a device of the map. */
export const PersonFields = ({
  of,
  partners,
  onChange,
}: {
  of: PersonName;
  partners: readonly { id: number; name: string }[];
  onChange: (person: PersonName) => void;
}) => (
  <div class="grid">
    <SelectField
      label={say("Where the person marks")}
      value={of.partner}
      options={[
        ["", say("on the map")],
        ...partners.map((one) => [String(one.id), partnerName(one)] as const),
      ]}
      onChange={(partner) => onChange({ ...of, partner })}
    />
    <TextField
      label={of.partner === "" ? say("Device’s id") : say("The partner’s user_ref")}
      hint={say("Exactly as it is sent")}
      maxLength={128}
      required
      autocomplete="off"
      value={of.name}
      onChange={(name) => onChange({ ...of, name })}
    />
  </div>
);
