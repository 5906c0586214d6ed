import { Form } from "#web/kit/form.tsx";
import { Button } from "#web/kit/button.tsx";
import { useForm } from "#web/console/parts/use-form.ts";
import { useRef } from "preact/hooks";
import type { BrandAlias, ConsoleBrands, ServedBrand } from "#src/contract/console.ts";
import { mayChange, useLoaded } from "#web/console/api.ts";
import { useDoing } from "#web/console/doing.ts";
import { TextField } from "#web/console/parts/field.tsx";
import { say } from "#web/console/words.ts";
import { number } from "#web/kit/numbers.ts";
import { Loaded } from "#web/kit/resource.tsx";
import { Table, counted } from "#web/kit/table.tsx";

const brandMax = 80;
const nothing = { spelling: "", brand: "" };
const pathOf = (spelling: string): string => `/brands/${encodeURIComponent(spelling)}/alias`;

interface Aliased {
  changed: number;
  left: number;
}

/** Brands that nobody knows, and the spellings that operators have given to a brand (decisions 14.25). */
export function BrandsPage() {
  const loading = useLoaded<ConsoleBrands>("/brands");
  const { form: typed, set: setTyped, at } = useForm(nothing);
  const form = useRef<HTMLFormElement>(null);
  const doing = useDoing();
  const save = async (): Promise<void> => {
    const { spelling, brand } = typed;
    const done = await doing.run<Aliased>(savedWords, "POST", pathOf(spelling), { brand });
    if (done === null) return;
    setTyped(nothing);
    await loading.load();
  };
  const drop = async ({ spelling }: BrandAlias): Promise<void> => {
    const done = await doing.run(say("The alias is taken away"), "DELETE", pathOf(spelling));
    if (done !== null) await loading.load();
  };
  const choose = (spelling: string): void => {
    setTyped({ spelling, brand: "" });
    form.current?.scrollIntoView({ block: "nearest" });
    form.current?.querySelectorAll("input")[1]?.focus();
  };
  return (
    <section>
      <h1>{say("Brands")}</h1>
      <p class="soft">
        {say(
          "A brand has one spelling on the map, whatever the files write. Fuelmark knows the brands of a public list; here you give it the spellings that the list lacks.",
        )}
      </p>
      {mayChange() && (
        <Form box={form} send={save} doing={doing} action={say("Give the spelling to the brand")}>
          <div class="grid">
            <TextField
              label={say("Spelling")}
              {...at("spelling")}
              maxLength={brandMax}
              required
              hint={say("as files write it; case, quotes and spaces make no difference")}
            />
            <TextField
              label={say("Brand")}
              {...at("brand")}
              maxLength={brandMax}
              hint={say("as drivers are to see it; empty: no brand")}
            />
          </div>
        </Form>
      )}
      <Loaded of={loading}>
        {(found) => (
          <>
            <h2>{say("Unknown brands")}</h2>
            <p class="soft">
              {say("{known} of {all} stations with a brand have a known one.", {
                known: number(found.stations_known),
                all: number(found.stations),
              })}
            </p>
            <UnknownBrands {...found} choose={choose} />
            <h2>{say("Aliases")}</h2>
            <Aliases aliases={found.aliases} busy={doing.busy} drop={drop} />
          </>
        )}
      </Loaded>
    </section>
  );
}

/** What an act that changes many stations has done. */
export const savedWords = ({ changed, left }: Aliased): string =>
  left === 0
    ? say("Saved; stations changed: {n}", { n: number(changed) })
    : say("Saved; stations changed: {n}. {left} are left: save it again.", {
        n: number(changed),
        left: number(left),
      });

function UnknownBrands({
  brands,
  unknown,
  choose,
}: ConsoleBrands & { choose: (spelling: string) => void }) {
  return (
    <>
      <Table
        caption={say("Unknown brands")}
        rows={brands}
        id={({ brand }) => brand}
        empty={say("Every brand is known.")}
        columns={[
          { name: say("Brand"), of: "brand" },
          counted(say("Stations"), "stations"),
          ...(mayChange()
            ? [
                {
                  name: say("Change"),
                  cell: ({ brand }: ServedBrand) => (
                    <Button of={brand} onClick={() => choose(brand)}>
                      {say("It is another brand …")}
                    </Button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {unknown > brands.length && (
        <p class="soft">
          {say("These are the first {n} of {all}.", {
            n: number(brands.length),
            all: number(unknown),
          })}
        </p>
      )}
    </>
  );
}

function Aliases({
  aliases,
  busy,
  drop,
}: Pick<ConsoleBrands, "aliases"> & { busy: boolean; drop: (alias: BrandAlias) => Promise<void> }) {
  return (
    <Table
      caption={say("Aliases")}
      rows={aliases}
      id={({ spelling }) => spelling}
      empty={say("No aliases yet.")}
      columns={[
        { name: say("Spelling"), of: "spelling" },
        {
          name: say("Brand"),
          of: "brand",
          cell: (brand) => brand || <span class="soft">{say("no brand")}</span>,
        },
        ...(mayChange()
          ? [
              {
                name: say("Change"),
                cell: (alias: BrandAlias) => (
                  <Button of={alias.spelling} disabled={busy} onClick={() => drop(alias)}>
                    {say("Take away")}
                  </Button>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}
