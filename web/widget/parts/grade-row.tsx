import { grades } from "#src/domain/vocabulary.ts";
import { chooseGrade, grade } from "#web/widget/grade.ts";
import { words } from "#web/widget/words.ts";

/** The grade that everything here answers for; pressed again, it is any fuel. `asks`: who has chosen none is asked. */
export const GradeRow = ({ asks = false }: { asks?: boolean }) => (
  <>
    {asks && grade.value === null ? <p class="which">{words.whichFuel}</p> : null}
    <div class="grade-choice" role="group" aria-label={words.myFuel}>
      {grades.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={grade.value === one}
          onClick={() => chooseGrade(grade.value === one ? null : one)}
        >
          {words.gradeName(one)}
        </button>
      ))}
    </div>
  </>
);
