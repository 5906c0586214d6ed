import { type Grade, grades, parseGrade } from "#src/domain/vocabulary.ts";

/** The grades of a station as it is stored and served: each once, in the contract's order, "92,95,ДТ"; "" for none. */
export const gradesText = (sold: readonly Grade[]): string =>
  grades.filter((grade) => sold.includes(grade)).join();

/** The grades of such a text. */
export const gradesIn = (text: string): Grade[] =>
  text.split(",").flatMap((name) => parseGrade(name) ?? []);

/** The same text of a list that a person has written ("95, dt"); null when it names something else than grades. */
export function readGrades(list: string): string | null {
  const names = list.split(",").filter((name) => name.trim() !== "");
  const found = gradesIn(names.join());
  return found.length === names.length ? gradesText(found) : null;
}

/** The facts of a station whose sales and hours are unknown. */
export const noSales = { grades_sold: "", opening_hours: "" } as const;

/** One bit for each grade, the lowest for the first one of the contract. */
export const gradeBits = (sold: readonly Grade[]): number =>
  sold.reduce((bits, grade) => bits | (1 << grades.indexOf(grade)), 0);
