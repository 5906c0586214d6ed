import type { Change, Comparison, Difference } from "#test/record/compare.ts";
import { groups } from "#test/record/groups.ts";

const changesMax = 8;
const likeMax = 3;
const charsMax = 160;

/**
 * What differs, readable: one paragraph for all answers that have changed in the same way, and for all requests of a
 * test that are missing or new, `most` paragraphs at most. Then how many answers there are of each kind.
 */
export function report({ equal, polled, differences }: Comparison, most: number): string {
  const alike = [
    ...groups(differences, ({ kind, file, title, changes }) =>
      JSON.stringify(kind === "changed" ? changes : [kind, file, title]),
    ).values(),
  ];
  const count = (kind: Difference["kind"]): number =>
    differences.filter((one) => one.kind === kind).length;
  return [
    ...alike.slice(0, most).map(paragraph),
    ...(alike.length > most ? [`… and ${alike.length - most} more kinds of difference`] : []),
    `${equal} equal, ${polled} asked another number of times with the same end, ${count("changed")} changed, ${count("missing")} missing, ${count("new")} new`,
  ].join("\n\n");
}

function paragraph(alike: readonly Difference[]): string {
  const [{ kind, changes }] = alike as [Difference];
  const where = [...groups(alike, ({ file, title }) => `${file} › ${title}`)];
  return [
    `${alike.length} ${kind}`,
    ...changes.slice(0, changesMax).flatMap(changeLines),
    ...leftOut(changes.length - changesMax, "fields"),
    ...where
      .slice(0, likeMax)
      .flatMap(([test, ofTest]) => [
        `  in ${test}`,
        ...ofTest.slice(0, likeMax).map(requestLine),
        ...leftOut(ofTest.length - likeMax, "requests"),
      ]),
    ...leftOut(where.length - likeMax, "tests"),
  ].join("\n");
}

const requestLine = ({ request, nth }: Difference): string =>
  `    ${cut(request)}${nth > 1 ? ` (#${nth})` : ""}`;

const leftOut = (count: number, what: string): string[] =>
  count > 0 ? [`    … and ${count} more ${what}`] : [];

const changeLines = ({ at, was, is }: Change): string[] => [
  `    ${at}`,
  ...(was === undefined ? [] : [`      - ${cut(was)}`]),
  ...(is === undefined ? [] : [`      + ${cut(is)}`]),
];

const cut = (text: string): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax)}… (${text.length} characters)`;
