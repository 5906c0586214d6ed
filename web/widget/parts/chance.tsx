import { chanceText } from "#src/contract/driver-texts.ts";
import { shownChance } from "#src/domain/grade-answer.ts";
import type { Station } from "#web/widget/api.ts";
import { grade } from "#web/widget/grade.ts";
import { now } from "#web/widget/state.ts";
import { language, words } from "#web/widget/words.ts";

/** How likely the viewer's fuel is there; `explained`: and what that is taken from. Nothing where it is unknown. */
export const Chance = ({
  station,
  explained = false,
}: {
  station: Station;
  explained?: boolean;
}) => {
  const chance = shownChance(station, grade.value, now.value);
  if (chance === null) return null;
  const name = grade.value === null ? null : words.gradeName(grade.value);
  return (
    <small class="chance">
      {chanceText(language, chance, name)}
      {explained ? ` · ${words.chanceFrom}` : ""}
    </small>
  );
};
