import { expect } from "chai";
import { createCityFinder } from "#snapshots/city-names.ts";

const names = [
  ...["Москва", "Санкт-Петербург", "Новосибирск", "Екатеринбург", "Нижний Новгород"],
  ...["Ростов-на-Дону", "Ростов", "Йошкар-Ола", "Орёл", "Щёлково", "Хабаровск", "Южно-Сахалинск"],
  ...["Тюмень", "Череповец", "Набережные Челны", "Грозный", "Улан-Удэ", "Архангельск", "Братск"],
  ...["Королёв", "Великий Новгород", "Нижний Тагил", "Челябинск", "Мирный", "Мирни", "Бийск"],
  ...["Благовещенск"],
];

describe("names of cities", () => {
  const cities = names.map((name, n) => ({ name, n }));
  const find = createCityFinder([...cities, { name: "Благовещенск", n: 1000 }]);
  const spellings: Record<string, string[]> = {
    Новосибирск: ["Novosibirsk", "NOVOSIBIRSK", "нск"],
    "Санкт-Петербург": [
      "СПб",
      "Санкт Петербург",
      "spb",
      "Sankt-Peterburg",
      "St Petersburg",
      "питер",
    ],
    Екатеринбург: ["Yekaterinburg", "Ekaterinburg", "Екб"],
    "Нижний Новгород": ["Nizhny Novgorod", "Nizhniy Novgorod", "Nizhnii Novgorod", "Н.Новгород"],
    "Ростов-на-Дону": ["Rostov-na-Donu", "Rostov-on-Don", "ростов на дону"],
    Ростов: ["Rostov"],
    "Йошкар-Ола": ["Yoshkar-Ola", "Ioshkar-Ola", "йошкар ола"],
    Орёл: ["Орел", "Orel", "Oryol"],
    Щёлково: ["Shchyolkovo", "Shchelkovo", "Schelkovo"],
    Хабаровск: ["Khabarovsk", "Habarovsk"],
    "Южно-Сахалинск": ["Yuzhno-Sakhalinsk", "Iuzhno-Sakhalinsk", "Južno-Sahalinsk"],
    Тюмень: ["Tyumen", "Tiumen", "Tyumen'"],
    Череповец: ["Cherepovets", "Čerepovec"],
    "Набережные Челны": ["Naberezhnye Chelny", "Наб. Челны"],
    Грозный: ["Grozny", "Groznyy", "Groznyi"],
    "Улан-Удэ": ["Ulan-Ude"],
    Архангельск: ["Arkhangelsk", "Arkhangel'sk"],
    Братск: ["Bratsk"],
    Королёв: ["Korolev", "Korolyov"],
    Челябинск: ["Chelyabinsk", "Čelâbinsk"],
    Москва: ["Moscow", "Moskva", "мск"],
  };
  for (const [name, ways] of Object.entries(spellings))
    for (const way of ways) it(`"${way}" is ${name}`, () => expect(find(way)?.name).to.equal(name));

  it("in Latin letters that fit two cities find none of them", () => {
    expect(find("Mirny")).to.equal(null);
    expect(find("Мирный")?.name).to.equal("Мирный");
  });
  for (const way of [
    "Нижний",
    "Новгород",
    "Novgorod",
    "Биск",
    "Мосва",
    "Moscou",
    "",
    " ",
    "-",
    "12",
  ])
    it(`"${way}" is no city`, () => expect(find(way)).to.equal(null));
  it("of one name are the largest", () => expect(find("Blagoveshchensk")?.n).to.equal(26));
  it("that have a short form as their own name are found by it", () => {
    const own = createCityFinder([
      { name: "Москва" },
      { name: "Питер" },
      { name: "Санкт-Петербург" },
    ]);
    expect(own("питер")?.name).to.equal("Питер");
    expect(createCityFinder([{ name: "Москва" }])("СПб")).to.equal(null);
  });

  const abroad = ["Łódź", "Piła", "Tromsø", "Gießen", "Köln", "Bø", "Jena", "Αθήνα", "Київ"];
  const findAbroad = createCityFinder([...abroad, "Pilã", "Jēna"].map((name) => ({ name })));
  for (const [way, name] of Object.entries({
    ...{ Lodz: "Łódź", LODZ: "Łódź", Tromso: "Tromsø", Tromsoe: "Tromsø", giessen: "Gießen" },
    ...{ Koln: "Köln", Koeln: "Köln", Bo: "Bø", ΑΘΗΝΑ: "Αθήνα", Kyiv: "Київ", Jena: "Jena" },
    ...{ Piła: "Piła", Pila: undefined },
  }))
    it(`"${way}" is ${name ?? "one of two"}`, () => expect(findAbroad(way)?.name).to.equal(name));
  for (const way of ["Odz", "Ena", "b", "ß", "Troms", "Gieen"])
    it(`"${way}" is no city: no letter of a name is dropped`, () =>
      expect(findAbroad(way)).to.equal(null));
});
