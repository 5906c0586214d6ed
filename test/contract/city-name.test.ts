import { expect } from "chai";
import { latinName } from "#src/contract/city-name.ts";

describe("names of towns in Latin letters", () => {
  const cases: [name: string, latin: string][] = [
    ["Нижний Новгород", "Nizhniy Novgorod"],
    ["Ростов-на-Дону", "Rostov-na-Donu"],
    ["Щёлково", "Shchelkovo"],
    ["Ярославль", "Yaroslavl"],
    ["МОСКВА", "MOSKVA"],
    ["Genova", "Genova"],
    ["", ""],
  ];
  for (const [name, latin] of cases)
    it(`write ${name || "nothing"} as ${latin || "nothing"}`, () => {
      expect(latinName(name)).to.equal(latin);
    });
});
