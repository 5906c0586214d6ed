import { expect } from "chai";
import fc from "fast-check";
import { grades } from "#src/domain/vocabulary.ts";
import { type Embedding, embedLine } from "#web/embed/embed-line.ts";
import { parseParams } from "#web/widget/params.ts";

describe("web: the iframe's line", () => {
  const plain: Embedding = {
    address: "https://fuel.example/widget/",
    key: "pk_live_abc",
    city: "",
    point: null,
    theme: "auto",
    fuel: null,
    showFilter: true,
    showSearch: true,
    themeLocked: false,
    gestures: null,
    language: null,
    accent: null,
    width: "100%",
    heightPx: 600,
    title: "Map of fuel",
  };

  it("has a height, allows what the buttons need, and sends the page's origin along", () => {
    expect(embedLine(plain)).to.equal(
      '<iframe src="https://fuel.example/widget/?key=pk_live_abc" title="Map of fuel" width="100%" height="600" allow="geolocation; fullscreen" loading="lazy" referrerpolicy="strict-origin" style="border:0"></iframe>',
    );
  });

  it("writes quotes, blanks and markup so that they stay inside their attribute", () => {
    const line = embedLine({ ...plain, city: `"><script>`, title: `a "b" <c> & 'd'` });
    expect(line).to.include("city=%22%3E%3Cscript%3E");
    expect(line).to.include(`title="a &quot;b&quot; &lt;c&gt; &amp; 'd'"`);
    expect(embedLine({ ...plain, city: "Нижний Новгород" })).to.include(
      "&amp;city=%D0%9D%D0%B8%D0%B6%D0%BD%D0%B8%D0%B9%20%D0%9D",
    );
  });

  it("says to the map exactly what was chosen", () => {
    fc.assert(
      fc.property(chosen, fc.string(), (params, title) => {
        const line = embedLine({ ...plain, ...params, title });
        const { src, ...others } = attributesOf(line);
        const address = new URL(src!);
        expect(address.origin + address.pathname).to.equal(plain.address);
        expect(parseParams(address.search, true)).to.deep.equal({
          params: { ...params, station: "", gestures: params.gestures ?? "cooperative" },
          warnings: [],
        });
        expect(others["title"]).to.equal(title);
      }),
      { numRuns: 500 },
    );
  });

  const text = (maxLength: number) =>
    fc
      .string({ unit: "grapheme", maxLength })
      .map((one) => one.trim().slice(0, maxLength))
      .filter((one) => Buffer.from(one).toString() === one && one === one.trim());
  const number = (min: number, max: number) =>
    fc.double({ min, max, noNaN: true }).map((one) => one + 0);
  const point = fc.record({ lat: number(-90, 90), lon: number(-180, 180), zoom: number(0, 22) });
  const chosen = fc
    .record({
      key: text(60),
      city: text(120),
      point: fc.option(point),
      theme: fc.constantFrom("light", "dark", "auto"),
      fuel: fc.option(fc.constantFrom(...grades)),
      showFilter: fc.boolean(),
      showSearch: fc.boolean(),
      themeLocked: fc.boolean(),
      gestures: fc.option(fc.constantFrom("cooperative", "greedy")),
      language: fc.option(fc.constantFrom("ru", "en")),
      accent: fc.option(fc.stringMatching(/^[0-9a-f]{6}$/)),
    })
    // A city is not asked for where there is a point.
    .map((one) => (one.point === null ? one : { ...one, city: "" }));
});

/** The attributes of the one tag in `line`, as an HTML parser reads them. */
function attributesOf(line: string): Record<string, string> {
  const whole = /^<iframe((?: [a-z]+="[^"<>]*")+)><\/iframe>$/.exec(line);
  expect(whole, line).not.to.equal(null);
  const pairs = [...whole![1]!.matchAll(/ ([a-z]+)="([^"]*)"/g)];
  return Object.fromEntries(pairs.map(([, name, value]) => [name!, unescaped(value!)]));
}

const signs: Record<string, string> = { amp: "&", quot: '"', lt: "<", gt: ">" };
const unescaped = (value: string): string =>
  value.replace(/&(amp|quot|lt|gt);/g, (_, name: string) => signs[name]!);
