import { expect } from "chai";
import fc from "fast-check";
import { accentIn, contrast, type Rgb, rgbOf } from "#web/widget/accent.ts";

describe("web: a partner's accent (decisions 15.17)", () => {
  const hex = fc.stringMatching(/^[0-9a-f]{6}$/);
  const theme = fc.constantFrom("light", "dark");
  // Grounds and letters of web/kit/tokens.css.
  const grounds: Record<"light" | "dark", Rgb[]> = {
    light: [rgbOf("ffffff"), rgbOf("f4f6f8")],
    dark: [rgbOf("0e141a"), rgbOf("151d25"), rgbOf("1c2630")],
  };
  const letters = { light: rgbOf("16202a"), dark: rgbOf("eaf0f5") };

  it("can be read in both themes, as letters and below letters, whatever was asked for", () => {
    fc.assert(
      fc.property(hex, theme, (wanted, which) => {
        const { accent, text, soft } = accentIn(which, rgbOf(wanted));
        for (const ground of [...grounds[which], soft, text])
          expect(contrast(accent, ground)).to.be.at.least(4.5);
        expect(contrast(letters[which], soft)).to.be.at.least(4.5);
      }),
      { numRuns: 2000 },
    );
  });

  it("stays as it was asked for where it can be read", () => {
    expect(accentIn("light", rgbOf("0b5cad")).accent).to.deep.equal([11, 92, 173]);
    expect(accentIn("dark", rgbOf("6db3f8")).accent).to.deep.equal([109, 179, 248]);
    expect(contrast([0, 0, 0], [255, 255, 255])).to.equal(21);
  });
});
