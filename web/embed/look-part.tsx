import { grades } from "#src/domain/vocabulary.ts";
import { choose, embedding } from "#web/embed/choices.ts";
import { Choice, Field, Switch } from "#web/embed/field.tsx";
import { words } from "#web/embed/words.ts";
import { remember } from "#web/kit/storage.ts";

/** The map's look and size. */
export const LookPart = () => (
  <>
    <fieldset>
      <legend>{words.look}</legend>
      <Choice
        name="theme"
        label={words.theme}
        options={(["auto", "light", "dark"] as const).map((one) => [one, words.themes[one]])}
        onChoose={(theme) => {
          // A choice that this browser remembers from a map would hide the one that is made here.
          remember("theme", null);
          choose({ theme });
        }}
      />
      <Choice
        name="fuel"
        label={words.fuel}
        options={[["", words.anyFuel], ...grades.map((grade) => [grade, grade] as const)]}
      />
      <Choice
        name="gestures"
        label={words.gestures}
        options={[
          ["", words.gesturesOf.default],
          ["cooperative", words.gesturesOf.cooperative],
          ["greedy", words.gesturesOf.greedy],
        ]}
      />
      <Choice
        name="lang"
        label={words.language}
        options={[
          ["", words.languageOfViewer],
          ["ru", "Русский"],
          ["en", "English"],
        ]}
      />
      <Field name="accent" label={words.accent} placeholder="0b5cad" hint={words.accentHint}>
        <label class="colour">
          <input
            type="color"
            value={`#${embedding.value?.accent ?? "0b5cad"}`}
            onInput={({ currentTarget: { value } }) => choose({ accent: value.slice(1) })}
          />
          {words.accentPick}
        </label>
      </Field>
      <Switch name="noFilter" label={words.noFilter} />
      <Switch name="noSearch" label={words.noSearch} />
      <Switch name="themeLock" label={words.themeLock} />
    </fieldset>
    <fieldset>
      <legend>{words.size}</legend>
      <div class="two">
        <Field name="width" label={words.width} />
        <Field name="height" label={words.height} mode="numeric" />
      </div>
    </fieldset>
  </>
);
