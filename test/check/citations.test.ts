import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { expect } from "chai";

const isText =
  /\.(ts|tsx|mjs|md|css|html|json|ya?ml|sql|example)$|(^|\/)(Dockerfile|Procfile|\.ci\/run)$/;
const generated = /^(package-lock\.json|bench\/results\.md)$/;

const begin =
  "<!-- the index: written by `WRITE_DOCS=1 npm test -- test/check/citations.test.ts` -->";

const listed = execFileSync("git", ["ls-files", "-z", "-c", "-o", "--exclude-standard"], {
  encoding: "utf8",
});
const files = listed.split("\0").filter((file) => file !== "" && existsSync(file));
const folders = new Set(files.flatMap(foldersOf));
const texts = new Map(
  files
    .filter((file) => isText.test(file) && !generated.test(file))
    .map((file) => [file, readFileSync(file, "utf8")]),
);
const documents = [...texts].filter(([file]) => file.endsWith(".md"));
/** One document in a folder of parts. Citations name it as they name the contract. */
const decisions = "docs/decisions";
const partsOfDecisions = documents.filter(([file]) => /^docs\/decisions\/\d/.test(file)).toSorted();
const numbers = new Map(documents.map(([file, text]) => [file, numbersOf(text)]));
numbers.set(
  decisions,
  partsOfDecisions.flatMap(([, text]) => numbersOf(text)),
);
const anchors = new Map(documents.map(([file, text]) => [file, anchorsOf(text)]));

describe("citations", () => {
  it("name a part or a decision that the document has", () => {
    const unknown = (file: string, text: string): string[] =>
      citationsOf(text).flatMap(({ name, cited, at }) => {
        const document = documentOf(file, name);
        const known = document === undefined ? [] : (numbers.get(document) ?? []);
        const missing = cited.filter((number) => !known.includes(number));
        return missing.map((number) => `${place(file, text, at)} ${name} ${number}`);
      });
    expect(inAll(unknown)).to.deep.equal([]);
  });

  it("name a part of the same document where they name no document", () => {
    const found: string[] = [];
    const contract = [["docs/contract.md", texts.get("docs/contract.md")!]] as const;
    for (const [file, text] of [...contract, ...partsOfDecisions]) {
      const own = numbers.get(file.startsWith(`${decisions}/`) ? decisions : file)!;
      for (const { cited, at } of [...ownPartsOf(text), ...ownDecisionsOf(text)])
        for (const number of cited)
          if (!own.includes(number)) found.push(`${place(file, text, at)} ${number}`);
    }
    expect(found).to.deep.equal([]);
  });

  it("lead to Markdown files of this repository, and to a heading that is there", () => {
    const broken = (file: string, text: string): string[] =>
      [...text.matchAll(/(?<![\w./-])[\w./-]*[\w-]\.md\b(?:#([\w-]+))?/g)].flatMap((match) => {
        const [cited = "", anchor] = match;
        const document = documentOf(file, cited.replace(/#.*/, ""));
        const leads =
          document !== undefined &&
          (anchor === undefined || anchors.get(document)?.includes(anchor) === true);
        return leads ? [] : [`${place(file, text, match.index)} ${cited}`];
      });
    expect(inAll(broken)).to.deep.equal([]);
  });

  it("name files and folders that exist", () => {
    const gone = (file: string, text: string): string[] =>
      pathsOf(file, text)
        .filter(({ path }) => !exists(path))
        .map(({ path, at }) => `${place(file, text, at)} ${path}`);
    expect(inAll(gone)).to.deep.equal([]);
  });

  it("name nothing beside the repository but the folder of real data", () => {
    const outside = (file: string, text: string): string[] =>
      [...text.matchAll(/\.\.\/shared(?!\/data\b)/g)].map(({ index }) => place(file, text, index));
    expect(inAll(outside)).to.deep.equal([]);
  });

  it("find a part of the decisions in the index of its folder", () => {
    const index = join(decisions, "README.md");
    const [head = ""] = texts.get(index)!.split(begin);
    const rows = partsOfDecisions.map(([file, text]) => indexRow(file, text));
    const wanted = `${head}${begin}\n\n${rows.join("\n")}\n`;
    if (process.env["WRITE_DOCS"] === "1") writeFileSync(index, wanted);
    else expect(texts.get(index)).to.equal(wanted);
  });

  it("have numbers to cite: each is given once, in ascending order", () => {
    for (const file of ["docs/contract.md", decisions]) {
      const given = (numbers.get(file) ?? []).map((number) => {
        const [part = 0, item = 0] = number.split(".").map(Number);
        return part * 1000 + item;
      });
      expect(given, file).to.not.be.empty;
      expect(given, file).to.deep.equal([...new Set(given)].sort((a, b) => a - b));
    }
  });
});

describe("the reader of citations", () => {
  it("reads lists, ranges, and what a line break in a comment parts", () => {
    const read = (text: string) => citationsOf(text).map(({ name, cited }) => [name, ...cited]);
    // Put together here, so that this file does not cite them.
    const [a, b] = [["docs/a", "md"].join("."), ["b", "md"].join(".")];
    expect(read(`(${a} 7 and 8).`)).to.deep.equal([[a, "7", "8"]]);
    expect(read(`${a} 2.3, 4.1 to 4.3; ${b} 7.`)).to.deep.equal([
      [a, "2.3", "4.1", "4.3"],
      [b, "7"],
    ]);
    expect(read(`\`${a}\`, parts 1 to 3`)).to.deep.equal([[a, "1", "2", "3"]]);
    expect(read(`/** See ${a}\n * 6.4, 500 of them. */`)).to.deep.equal([[a, "6.4"]]);
    expect(read(`${a} says 7`)).to.deep.equal([]);
  });

  it("finds paths in documents and comments, and leaves code alone", () => {
    const read = (file: string, text: string) => pathsOf(file, text).map(({ path }) => path);
    const path = ["src", "a.ts"].join("/");
    expect(read("README.md", `In \`${path}\`, ${path}.`)).to.deep.equal([path, path]);
    expect(read("a.ts", `/** See ${path}. */\nconst b = "${path}"; // or ${path}:`)).to.deep.equal([
      path,
      path,
    ]);
    expect(read("a.ts", `// https://host/${path}, GET /api/a, \`api/a\``)).to.deep.equal([]);
  });
});

interface Citation {
  /** As it is written: `docs/contract.md`. */
  name: string;
  cited: string[];
  at: number;
}

const number = String.raw`\d{1,2}(?:\.\d{1,2})?(?!\d|\.\d)`;
const list = String.raw`${number}(?:(?: ?,| and| or| to) ${number})*`;

/** Citations with a number: `docs/contract.md 6`, and `decisions 6` and `contract 6` in code and links. */
function citationsOf(text: string): Citation[] {
  const named = String.raw`(?:[\w.-]+/)*[\w-]+\.md(?=\`?,?\s+(?:parts?\s+)?\d)|(?:contract|decisions?)(?= +\d)`;
  const pattern = new RegExp(
    String.raw`(?<![\w./-])(${named})\`?,?\s+(?:parts?\s+)?(${list})`,
    "g",
  );
  return [...withoutLineBreaks(text).matchAll(pattern)].map((match) => ({
    name: match[1] ?? "",
    cited: spread(match[2] ?? ""),
    at: match.index,
  }));
}

/** `part 6`, in a document that means itself by it. */
function ownPartsOf(text: string): Omit<Citation, "name">[] {
  const pattern = new RegExp(String.raw`(?<!\.md\`?,? )\bparts? (${list})`, "gi");
  return [...text.matchAll(pattern)].map(({ 1: cited = "", index }) => ({
    cited: spread(cited),
    at: index,
  }));
}

/** `(2.18)`, the same with one decision or more. */
function ownDecisionsOf(text: string): Omit<Citation, "name">[] {
  return [...text.matchAll(/\((\d{1,2}\.\d{1,2}(?:, \d{1,2}\.\d{1,2})*)(?:, rule \d)?\)/g)].map(
    ({ 1: cited = "", index }) => ({ cited: spread(cited), at: index }),
  );
}

/** The numbers of a list; `5 to 7` are three, of `4.1 to 4.3` the ends are enough. */
function spread(cited: string): string[] {
  const range = /\b(\d+) to (\d+)(?!\.\d)\b/.exec(cited.replace(/\d+\.\d+/g, ""));
  const [from, to] = [Number(range?.[1] ?? 0), Number(range?.[2] ?? -1)];
  const between = Array.from({ length: Math.max(0, to - from - 1) }, (_, i) => `${from + 1 + i}`);
  return [...(cited.match(/\d+(?:\.\d+)?/g) ?? []), ...between].sort(
    (a, b) => Number(a) - Number(b),
  );
}

const roots = "docs|src|api|snapshots|workers|cli|test|web|bench|client|demo|migrations";

/**
 * Files and folders that a document, or a comment of code, speaks of. Without a slash or an extension, `api/…` is the
 * address of a page's call; `dist` is built.
 */
function pathsOf(file: string, text: string): { path: string; at: number }[] {
  const prose = file.endsWith(".md") ? text : commentsOf(text);
  const pattern = new RegExp(String.raw`(?<![\w./@#*{}-])(?:${roots})/[\w./*{},<>-]*`, "g");
  return [...prose.matchAll(pattern)]
    .map((match) => ({ path: match[0].replace(/[.,]+$/, ""), at: match.index }))
    .filter(({ path }) => !/^api\/[^.]*[^/.]$|\bdist\b/.test(path));
}

/** Comments alone; what stands between them becomes blanks. */
const commentsOf = (text: string): string =>
  text.replace(/^[ \t]*\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*|^[ \t]*# .*|[^\n]/gm, (part) =>
    part.length > 1 ? part : " ",
  );

function exists(path: string): boolean {
  const plain = path.replace(/\/$/, "");
  if (folders.has(plain) || files.includes(plain)) return true;
  if (!/[*{<]/.test(plain)) return false;
  const pattern = plain
    .replaceAll(".", String.raw`\.`)
    .replaceAll("**", "\0")
    .replace(/\*|<[^>]*>/g, "[^/]*")
    .replaceAll("\0", ".*")
    .replace(/\{([^}]*)\}/g, (_, words: string) => `(${words.replaceAll(",", "|")})`);
  return files.some((file) => new RegExp(`^${pattern}(/|$)`).test(file));
}

/** The document of this name: from the root, beside the file that names it, in docs/, or anywhere. */
function documentOf(file: string, name: string): string | undefined {
  if (/^decisions?$/.test(name)) return decisions;
  const full = name.endsWith(".md") ? name : `${name}.md`;
  const likely = [full, join(dirname(file), full), join("docs", full)];
  return (
    likely.find((path) => files.includes(path)) ?? files.find((path) => path.endsWith(`/${full}`))
  );
}

/** A part of the decisions with what it is about: its first number, its last, and its headings. */
function indexRow(file: string, text: string): string {
  const [title = "", ...inside] = [...text.matchAll(/^#+ (.+)$/gm)].map(([, found = ""]) => found);
  const entries = numbersOf(text).filter((number) => number.includes("."));
  const range = entries.length < 2 ? "" : ` (${entries[0]} to ${entries.at(-1)})`;
  const about = inside.length === 0 ? "" : `: ${inside.join("; ")}`;
  return `- [${title}](${file.split("/").at(-1)})${range}${about}`;
}

/** Numbers of headings (`### 4.1 …`) and of decisions (`**6.4 …**`), as they stand. */
function numbersOf(text: string): string[] {
  return [...text.matchAll(/^(?:#+ |\*\*)(\d+(?:\.\d+)?)\.? /gm)].map(([, found = ""]) => found);
}

/** The anchors that GitHub makes of headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

/** Places stay: a break and what begins the comment's next line become as many blanks. */
const withoutLineBreaks = (text: string): string =>
  text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/|#)? ?/g, (found) => " ".repeat(found.length));

function foldersOf(file: string): string[] {
  const parts = file.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

const inAll = (look: (file: string, text: string) => string[]): string[] =>
  [...texts].flatMap(([file, text]) => look(file, text));

const place = (file: string, text: string, at: number): string =>
  `${file}:${text.slice(0, at).split("\n").length}`;
