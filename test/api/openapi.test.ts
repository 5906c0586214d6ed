import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect } from "chai";
import { createDocument } from "#api/openapi/document.ts";
import { refusals } from "#src/contract/refusals.ts";
import { route } from "#api/http/route.ts";
import { createRoutes } from "#api/http/routers.ts";
import { Type } from "typebox";
import { useEdge } from "#test/api/edge.ts";
import { createContract, type OpenApi, type SeenAnswer } from "#test/harness/contract.ts";

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description?: string;
  schema: Record<string, unknown>;
}
interface FullOperation {
  operationId: string;
  description: string;
  parameters: Parameter[];
  requestBody?: {
    content: Record<string, { schema: object; examples: Record<string, { value: unknown }> }>;
  };
  responses: Record<
    string,
    {
      headers: object;
      content?: Record<string, { schema: object; example?: unknown; examples?: object }>;
    }
  >;
}
type FullDocument = OpenApi & {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, FullOperation>>;
  components: { examples: Record<string, { value: unknown }> };
};

describe("the OpenAPI document", function () {
  const edge = useEdge();
  let document: FullDocument;

  before(async () => {
    document = (await (await fetch(`${edge.url}/openapi.json`)).json()) as FullDocument;
  });

  const operations = (): [name: string, operation: FullOperation][] =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]): [string, FullOperation] => [
        `${method} ${path}`,
        operation,
      ]),
    );

  it("describes every operation, and every field of its parameters, bodies and answers", () => {
    interface Part {
      $ref?: string;
      description?: string;
      properties?: Record<string, Part>;
      items?: Part;
      additionalProperties?: Part;
      anyOf?: Part[];
      patternProperties?: Record<string, Part>;
    }
    const target = ({ $ref, ...part }: Part): Part =>
      $ref === undefined
        ? part
        : $ref
            .slice(2)
            .split("/")
            .reduce<unknown>((one, name) => (one as Record<string, unknown>)[name], document)!;
    const bare = new Set<string>();
    let seen = 0;
    const look = (part: Part, at: string): void => {
      const { properties = {}, items, anyOf = [], ...rest } = target(part);
      const { additionalProperties, patternProperties = {} } = rest;
      const inside = [items, additionalProperties, ...anyOf, ...Object.values(patternProperties)];
      for (const one of inside) if (one !== undefined) look(one, at);
      for (const [name, field] of Object.entries(properties)) {
        seen += 1;
        const description = field.description ?? target(field).description ?? "";
        if (!/\w/.test(description)) bare.add(`${part.$ref ?? at} ${name}`);
        look(field, `${at} ${name}`);
      }
    };
    for (const [name, { description, parameters, requestBody, responses }] of operations()) {
      if (!/\w/.test(description)) bare.add(name);
      for (const parameter of parameters)
        if (!/\w/.test(parameter.description ?? "")) bare.add(`${name} ${parameter.name}`);
      const taken = Object.values(requestBody?.content ?? {});
      const answered = Object.values(responses).flatMap(({ content = {} }) =>
        Object.values(content),
      );
      for (const { schema } of [...taken, ...answered]) look(schema, name);
    }
    expect([...bare]).to.deep.equal([]);
    expect(seen).to.be.greaterThan(1000);
  });

  it("fits the meta schema of OpenAPI 3.1 and says version 1.0", async () => {
    expect([document.openapi, document.info.version]).to.deep.equal(["3.1.0", "1.0"]);
    const { valid, errors } = await new Validator().validate({ ...document });
    expect(errors).to.equal(undefined);
    expect(valid).to.equal(true);
  });

  it("has nothing to be said against by a linter's recommended rules", async () => {
    expect(await lint(JSON.stringify(document))).to.deep.equal([]);
  });

  it("is there as 3.0 as well, with the same operations and nothing to be said against", async () => {
    const response = await fetch(`${edge.url}/openapi-3.0.json`);
    const source = await response.text();
    const older = JSON.parse(source) as FullDocument;
    expect(older.openapi).to.equal("3.0.3");
    const { errors } = await new Validator().validate({ ...older });
    expect(errors, JSON.stringify(errors)).to.equal(undefined);
    expect(await lint(source)).to.deep.equal([]);
    const idsOf = (one: FullDocument): string[] =>
      Object.values(one.paths).flatMap((item) => Object.values(item).map((op) => op.operationId));
    expect(idsOf(older)).to.deep.equal(idsOf(document));
    expect(source).not.to.match(/"const":|"type":"null"|"identifier":/);
  });

  it("says where the service is and who runs it, and gives each path one form", () => {
    const { servers, info } = document as unknown as {
      servers: object;
      info: { contact: { url: string } };
    };
    expect(servers).to.deep.equal([{ url: `${edge.config.baseUrl}/api/v1/partner` }]);
    expect(info.contact.url).to.equal(edge.config.baseUrl);
    for (const [name, { responses }] of operations())
      for (const [status, { content = {} }] of Object.entries(responses))
        expect(Object.keys(content).length, `${name} ${status}`).to.be.at.most(1);
  });

  it("names every route, and nothing else", () => {
    const routes = createRoutes(edge.web.services).map(
      ({ method, path }) => `${method.toLowerCase()} ${path}`,
    );
    const named = operations().map(([name]) => name);
    expect(named.sort()).to.deep.equal(routes.sort());
  });

  it("is public, unmetered, and the same while the service is", async () => {
    const first = await fetch(`${edge.url}/openapi.json`);
    expect(first.headers.get("content-type")).to.equal("application/json; charset=utf-8");
    expect(first.headers.get("content-encoding")).to.equal("gzip");
    expect(first.headers.get("x-ratelimit-limit")).to.equal(null);
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(`${edge.url}/openapi.json`, { headers: { "If-None-Match": etag } });
    expect(again.status).to.equal(304);
    const plain = await fetch(`${edge.url}/openapi.json`, {
      headers: { "Accept-Encoding": "identity" },
    });
    const text = await plain.text();
    expect(JSON.parse(text)).to.deep.equal(document);
    const head = await fetch(`${edge.url}/openapi.json`, {
      method: "HEAD",
      headers: { "Accept-Encoding": "identity" },
    });
    expect(head.headers.get("content-length")).to.equal(String(Buffer.byteLength(text)));
    expect(await head.text()).to.equal("");
    const post = await fetch(`${edge.url}/openapi.json`, { method: "POST" });
    expect([post.status, post.headers.get("allow")]).to.deep.equal([405, "GET, HEAD, OPTIONS"]);
    const options = await fetch(`${edge.url}/openapi.json`, { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).to.deep.equal([
      204,
      "GET, HEAD, OPTIONS",
    ]);
  });

  it("carries the ranges and defaults of the contract", () => {
    const parameter = (operation: string, name: string): Parameter["schema"] =>
      operations()
        .find(([one]) => one === operation)![1]
        .parameters.find((one) => one.name === name)!.schema;
    expect(parameter("get /stations", "radius_km")).to.include({
      ...{ type: "number", exclusiveMinimum: 0, maximum: 60, default: 25 },
    });
    expect(parameter("get /stations", "city")).to.include({ maxLength: 120, default: "" });
    expect(parameter("get /stations", "bbox")).to.include({ type: "string", default: "" });
    expect(parameter("get /stations", "fresh_h")).to.include({ minimum: 1, maximum: 24 });
    const page = { minimum: 1, maximum: 30_000, default: 10_000 };
    expect(parameter("get /stations/all", "limit")).to.include(page);
    expect(parameter("get /cities", "q")).to.include({ maxLength: 120, default: "" });
    expect(parameter("get /cities", "limit")).to.include({ minimum: 1, maximum: 200, default: 50 });
    expect(parameter("get /usage", "days")).to.include({ minimum: 1, maximum: 365, default: 7 });
    expect(parameter("get /limit-requests", "limit")).to.include({
      ...{ minimum: 1, maximum: 100, default: 20 },
    });
  });

  it("says of every answer the five limit headers, and an example that fits it", () => {
    const contract = createContract(document);
    for (const [name, { responses }] of operations()) {
      for (const [status, { headers, content = {} }] of Object.entries(responses)) {
        for (const limit of ["Limit", "Remaining", "Reset", "Daily-Limit", "Daily-Remaining"])
          expect(headers, `${name} ${status}`).to.have.property(`X-RateLimit-${limit}`);
        for (const [type, { example, examples }] of Object.entries(content)) {
          const [method = "", path = ""] = name.split(" ");
          const values =
            example === undefined
              ? Object.keys(examples ?? {}).map((code) => document.components.examples[code]!.value)
              : [example];
          expect(values, `${name} ${status}`).not.to.have.length(0);
          for (const value of values) {
            const seen = answerOf(document, method, path, Number(status), type, value);
            expect(contract(seen), `${name} ${status}`).to.equal(null);
          }
        }
      }
    }
  });

  it("has an example of every body that is taken", () => {
    for (const [name, { requestBody }] of operations()) {
      if (requestBody === undefined) continue;
      const examples = Object.values(requestBody.content["application/json"]!.examples);
      expect(examples, name).not.to.have.length(0);
    }
  });

  it("knows where each problem code can come from", () => {
    const said = new Set(
      operations().flatMap(([, { responses }]) =>
        Object.values(responses).flatMap(({ content = {} }) =>
          Object.keys(content["application/problem+json"]?.examples ?? {}),
        ),
      ),
    );
    // An unknown path has no operation.
    said.add("not-found");
    const shown = Object.entries(refusals).filter(([, { example }]) => example !== undefined);
    expect([...said].sort()).to.deep.equal(shown.map(([code]) => code).sort());
  });

  it("names each object whose property no generator can make a name of", () => {
    const nameless: string[] = [];
    const walk = (value: unknown, place: string): void => {
      if (typeof value !== "object" || value === null) return;
      const { properties } = value as { properties?: Record<string, { properties?: object }> };
      for (const [name, inside] of Object.entries(properties ?? {}))
        if (!/^[a-z_]/i.test(name) && inside.properties !== undefined)
          nameless.push(`${place}.${name}`);
      for (const [name, inside] of Object.entries(value)) walk(inside, `${place}.${name}`);
    };
    walk(document.paths, "paths");
    walk(document.components, "components");
    expect(nameless).to.deep.equal([]);
  });

  it("cannot call two schemas by one name", () => {
    const body = (schema: object) =>
      route({
        ...{ method: "POST", path: "/x", access: "any", summary: "" },
        body: Type.Object({ part: Type.Object({}, { title: "Part", ...schema }) }),
        answers: { operationId: "x", tag: "Widget", description: "", replies: {} },
        handle: () => {},
      });
    const nowhere = { problemBase: "", baseUrl: "" };
    expect(() => createDocument([body({}), body({ minProperties: 1 })], nowhere)).to.throw("Part");
    expect(createDocument([body({}), body({})], nowhere)).to.have.property("paths");
  });

  it("is shown to people by a viewer that is served from here and runs nothing inline", async () => {
    const { origin } = edge;
    const page = await fetch(`${origin}/docs`);
    const html = await page.text();
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy)
      .to.match(/^default-src 'none';/)
      .and.not.to.match(/unsafe|http|\*/);
    expect(html).not.to.match(/<style| style="|<script(?![^>]* src=)/);
    const linked = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url]) => url!);
    expect(linked).to.include.members(["status", "api/v1/partner/openapi.json"]);
    // What the page is made of, and the description itself. Its other links are held in docs-pages.test.ts.
    const needed = linked.filter((url) => /^assets\/|openapi|^docs$/.test(url));
    expect(needed.filter((url) => /^assets\/.*\.(js|css|svg)$/.test(url)).length).to.be.above(2);
    for (const url of new Set(needed)) {
      const address = new URL(url, `${origin}/docs`).href;
      const file = await fetch(address);
      expect(file.status, url).to.equal(200);
      await file.arrayBuffer();
      const etag = file.headers.get("etag") ?? "";
      const again = await fetch(address, { headers: { "If-None-Match": etag } });
      expect(again.status, url).to.equal(304);
    }
    for (const url of linked) expect(url, "from this server").not.to.match(/^(https?:)?\/\//);
    const outside = await fetch(`${origin}/docs/..%2Fpackage.json`);
    expect(outside.status).to.equal(404);
    await outside.arrayBuffer();
  });

  describe("as a check of answers", () => {
    const good = (): SeenAnswer =>
      answerOf(document, "get", "/cities", 200, "application/json", {
        cities: [],
        count: 0,
        total: 0,
      });
    let contract: ReturnType<typeof createContract> | undefined;
    const fault = (change: Partial<SeenAnswer>): string | null =>
      (contract ??= createContract(document))({ ...good(), ...change });
    const headers = (change: Record<string, string | null>): Headers => {
      const changed = good().headers;
      for (const [name, value] of Object.entries(change))
        if (value === null) changed.delete(name);
        else changed.set(name, value);
      return changed;
    };

    it("lets a good one pass", () => expect(fault({})).to.equal(null));

    it("refuses a wrong body, a missing and an unknown field", () => {
      expect(fault({ body: '{"cities":[],"count":"0","total":0}' })).to.match(/count/);
      expect(fault({ body: '{"cities":[],"count":0}' })).to.match(/total/);
      expect(fault({ body: '{"cities":[],"count":0,"total":0,"more":1}' })).to.match(/additional/);
    });

    it("refuses a status, a content type and a path that are not documented", () => {
      expect(fault({ status: 418 })).to.match(/418/);
      expect(fault({ status: 400 })).to.match(/400/);
      expect(fault({ headers: headers({ "content-type": "text/html" }) })).to.match(/text\/html/);
      expect(fault({ headers: headers({ "content-type": null }) })).to.match(/no content type/);
      expect(fault({ path: "/nowhere" })).to.match(/200/);
      expect(fault({ method: "POST" })).to.match(/200/);
    });

    it("refuses a missing, a wrong and an unknown header", () => {
      expect(fault({ headers: headers({ etag: null }) })).to.match(/ETag is missing/);
      expect(fault({ headers: headers({ "x-ratelimit-limit": null }) })).to.match(/missing/);
      expect(fault({ headers: headers({ "x-ratelimit-reset": "soon" }) })).to.match(/soon/);
      expect(fault({ headers: headers({ "x-powered-by": "y" }) })).to.match(/x-powered-by/);
    });

    it("refuses a problem of another route, and another request's id", () => {
      const problem = (code: string, id = "1f0e7a52-6d0b-4a9e-9b1c-2f4a5f0d7c11"): SeenAnswer => {
        const value = {
          type: `http://x/${code}`,
          title: "",
          status: 422,
          detail: "",
          request_id: id,
        };
        return answerOf(document, "get", "/cities", 422, "application/problem+json", value);
      };
      expect(fault(problem("validation-failed"))).to.equal(null);
      expect(fault(problem("bad-bbox"))).to.match(/bad-bbox/);
      expect(fault(problem("validation-failed", "another"))).to.match(/another/);
    });
  });
});

/** What a linter's recommended rules say; a test's server is on this machine. */
async function lint(source: string): Promise<string[]> {
  const rules = { "no-server-example.com": "off" } as const;
  const config = await createConfig({ extends: ["recommended"], rules, telemetry: "off" });
  const found = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return found.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

/** An answer with all the headers that the document asks for. */
function answerOf(
  document: FullDocument,
  method: string,
  path: string,
  status: number,
  type: string,
  value: unknown,
): SeenAnswer {
  const samples: Record<string, string> = {
    "x-request-id": "1f0e7a52-6d0b-4a9e-9b1c-2f4a5f0d7c11",
    "x-content-type-options": "nosniff",
    etag: 'W/"abc"',
    "x-as-of": "2026-01-31 18:05:00",
    allow: "GET, OPTIONS",
    "www-authenticate": "Bearer",
    "x-accel-buffering": "no",
    "access-control-allow-origin": "https://shop.test",
  };
  const { headers } = document.paths[path]![method]!.responses[String(status)]!;
  const required = Object.entries(headers).filter(([, header]) => "$ref" in header);
  return {
    method: method.toUpperCase(),
    path,
    status,
    headers: new Headers([
      ...required.map(([name]): [string, string] => [name, samples[name.toLowerCase()] ?? "1"]),
      ["content-type", type],
    ]),
    body:
      type === "text/csv"
        ? String(value)
        : `${JSON.stringify(value)}${type.endsWith("ndjson") ? "\n" : ""}`,
  };
}
