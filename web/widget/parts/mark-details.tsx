import type { Signal } from "@preact/signals";
import type { Grade, Queue, Status } from "#src/domain/vocabulary.ts";
import type { Statement } from "#web/widget/mark.ts";
import { config } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

type Details = Omit<Statement, "status">;
/** Undefined takes a statement back. */
type Change = { [K in keyof Details]?: Details[K] | undefined };

interface Props {
  status: Status | null;
  details: Signal<Details>;
}

type GradeState = "there" | "gone" | "unknown";
const gradeStates: readonly GradeState[] = ["there", "gone", "unknown"];

/** Everything that a mark may say besides the status; all of it optional. */
export const MarkDetails = ({ status, details }: Props) => {
  const said = details.value;
  const set = (change: Change): void => {
    const all = { ...said, ...change };
    details.value = Object.fromEntries(
      Object.entries(all).filter(([, value]) => !isNothing(value)),
    ) as Details;
  };
  return (
    <div class="details">
      <Grades said={said} set={set} hasFuel={status !== "no"} />
      {status === "no" ? (
        <label class="switch">
          <input
            type="checkbox"
            checked={said.express === true}
            onChange={({ currentTarget }) => set({ express: currentTarget.checked })}
          />
          {words.express}
        </label>
      ) : (
        <QueueChoice said={said} set={set} />
      )}
      <div class="fields">
        <label class="field">
          {words.limitLabel}
          <input
            type="number"
            inputMode="numeric"
            min={1}
            max={10_000}
            step={1}
            value={said.limit_l ?? ""}
            onInput={({ currentTarget }) => set({ limit_l: currentTarget.valueAsNumber })}
          />
        </label>
      </div>
      <label class="switch">
        <input
          type="checkbox"
          checked={said.no_cash === true}
          onChange={({ currentTarget }) => set({ no_cash: currentTarget.checked })}
        />
        {words.noCash}
      </label>
      <label class="switch">
        <input
          type="checkbox"
          checked={said.fuel_cards_only === true}
          onChange={({ currentTarget }) => set({ fuel_cards_only: currentTarget.checked })}
        />
        {words.cardsOnly}
      </label>
      <label class="field">
        {words.comment}
        <textarea
          rows={2}
          maxLength={200}
          placeholder={words.commentHint}
          value={said.text ?? ""}
          onInput={({ currentTarget }) => set({ text: currentTarget.value })}
        />
      </label>
    </div>
  );
};

interface PartProps {
  said: Details;
  set: (change: Change) => void;
}

/** Asks of each grade whether it is there, and then for its price. */
const Grades = ({ said, set, hasFuel }: PartProps & { hasFuel: boolean }) => {
  const grades = config.value?.grades ?? [];
  const stateOf = (grade: Grade): GradeState =>
    said.fuels?.includes(grade) === true
      ? "there"
      : said.fuels_no?.includes(grade) === true
        ? "gone"
        : "unknown";
  const choose = (grade: Grade, state: GradeState): void => {
    const without = (list: Grade[] = []): Grade[] => list.filter((one) => one !== grade);
    set({
      fuels: [...without(said.fuels), ...(state === "there" ? [grade] : [])],
      fuels_no: [...without(said.fuels_no), ...(state === "gone" ? [grade] : [])],
      ...(state === "gone" ? { prices: priced(said, grade, Number.NaN) } : {}),
    });
  };
  const shown = hasFuel ? gradeStates : gradeStates.filter((state) => state !== "there");
  return (
    <fieldset class="group">
      <legend>{words.fuel}</legend>
      <div class="grade-rows">
        {grades.map((grade) => (
          <div key={grade} class="grade-row">
            <span class="grade-name">{words.gradeName(grade)}</span>
            <div
              class="segments"
              role="radiogroup"
              aria-label={words.gradeState(words.gradeName(grade))}
            >
              {shown.map((state) => (
                <label key={state}>
                  <input
                    type="radio"
                    name={`grade-${grade}`}
                    checked={stateOf(grade) === state}
                    onChange={() => choose(grade, state)}
                  />
                  <span>{words[state]}</span>
                </label>
              ))}
            </div>
            <input
              class="price"
              type="number"
              inputMode="decimal"
              min={0.01}
              max={1000}
              step={0.01}
              aria-label={words.priceOf(words.gradeName(grade))}
              placeholder={words.pricePlaceholder}
              disabled={stateOf(grade) === "gone"}
              value={said.prices?.[grade] ?? ""}
              onInput={({ currentTarget }) =>
                set({ prices: priced(said, grade, currentTarget.valueAsNumber) })
              }
            />
          </div>
        ))}
      </div>
    </fieldset>
  );
};

const QueueChoice = ({ said, set }: PartProps) => (
  <fieldset class="group">
    <legend>{words.cars}</legend>
    <div class="chips">
      {(config.value?.queues ?? []).map((bucket: Queue) => (
        <label key={bucket} class="chip">
          <input
            type="checkbox"
            checked={said.queue === bucket}
            onChange={({ currentTarget }) =>
              set({ queue: currentTarget.checked ? bucket : undefined })
            }
          />
          <span>{bucket}</span>
        </label>
      ))}
    </div>
  </fieldset>
);

function priced({ prices = {} }: Details, grade: Grade, price: number) {
  const { [grade]: _, ...rest } = prices;
  return Number.isNaN(price) ? rest : { ...rest, [grade]: price };
}

function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === "" || value === false || Number.isNaN(value);
}
