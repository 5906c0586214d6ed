import { readFileSync } from "node:fs";
import { expect } from "chai";
import { station } from "#src/contract/shapes/stations.ts";

/** As much of JSON Schema as the record uses. */
interface Schema {
  type?: string;
  enum?: string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  minimum?: number;
  maximum?: number;
}
interface Field {
  type: string;
  schema: Schema;
}

/** Every field of the schema by its path, as the contract writes it. */
function fieldsOf(schema: Schema, path = ""): [string, Field][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const field = path + name;
    const plain = part.anyOf?.find(({ type }) => type !== "null") ?? part;
    const isOptional = !(schema.required ?? []).includes(name);
    const type = `${plain.type}${part.anyOf ? " or null" : ""}${isOptional ? ", may be absent" : ""}`;
    const inside = plain.items
      ? fieldsOf(plain.items, `${field}[].`)
      : fieldsOf(plain, `${field}.`);
    return [[field, { type, schema: plain }], ...inside];
  });
}

describe("the contract's tables of a station and of its fuel", () => {
  const parts = readFileSync("docs/contract.md", "utf8").split("\n### ");
  const rows = parts
    .filter((part) => /^2\.[12] /.test(part))
    .flatMap((part) => part.split("\n"))
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(([, field, type, unit, values, meaning]) => ({
      ...{ field: field!.replaceAll("`", ""), type, unit, values: values!, meaning },
    }));
  const fields = new Map(fieldsOf(station as Schema));

  it("has each field of the schema once, in its order, with its type and a meaning", () => {
    expect(rows.map(({ field, type }) => [field, type])).to.deep.equal(
      [...fields].map(([field, { type }]) => [field, type]),
    );
    for (const { field, meaning } of rows) expect(meaning, field).to.match(/\w/);
  });

  it("names each value that a field can have, its bounds, and the unit of every figure", () => {
    for (const { field, unit, values } of rows) {
      const { schema } = fields.get(field)!;
      const named = [...values.matchAll(/`([^`]+)`/g)].map(([, value]) => value);
      if (schema.enum !== undefined) {
        expect(named, field).to.have.members(schema.enum.filter(Boolean));
        expect(values.includes("or empty"), field).to.equal(schema.enum.includes(""));
      }
      if (schema.type === "number" || schema.type === "integer") {
        expect(unit, field).to.match(/\w/);
        expect(values, field).to.contain(
          schema.maximum === undefined ? `from ${schema.minimum}` : `to ${schema.maximum}`,
        );
      }
      if (/updated/.test(field)) expect(unit, field).to.equal("UTC");
      if (/prices/.test(field)) expect(unit, field).to.equal("roubles a litre");
    }
  });
});
