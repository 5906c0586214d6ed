import type { Router } from "@koa/router";
import { expect } from "chai";
import { addKey, addPartner, bearer, useEdge } from "#test/api/edge.ts";

interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, object>>;
}

describe("the router of the API", () => {
  const edge = useEdge();
  let headers: Record<string, string>;
  /** What each router of the application has matched, in order: `GET /stations/:station_id`. */
  const matched: string[] = [];

  before(async () => {
    headers = bearer(await addKey(edge.db, await addPartner(edge.db, { rpm: 1000 })));
    for (const middleware of edge.web.app.middleware) {
      const { router } = middleware as { router?: Router };
      if (router === undefined) continue;
      const match = router.match.bind(router);
      router.match = (path, method) => {
        const found = match(path, method);
        const [layer] = found.path;
        matched.push(`${found.route ? method : "-"} ${String(layer?.path)}`);
        return found;
      };
    }
  });

  it("takes every operation of the OpenAPI document, and no other router is asked", async () => {
    const answer = await fetch(`${edge.url}/openapi.json`);
    const { paths, servers } = (await answer.json()) as Document;
    const base = new URL(servers[0]!.url).pathname;
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      [...Object.keys(item), "options"].map((method) => ({ path, method: method.toUpperCase() })),
    );
    // The fetch of the tests reads the document itself at its first answer.
    await fetch(`${edge.url}/cities`, { headers });
    expect(operations.length).to.be.greaterThan(20);
    for (const { path, method } of operations) {
      matched.splice(0);
      const url = edge.url + path.replaceAll(/\{\w+\}/g, "x1");
      const body = method === "POST" ? "{}" : null;
      const type = { "Content-Type": "application/json" };
      const { status } = await fetch(url, { method, body, headers: { ...headers, ...type } });
      const template = base + path.replaceAll(/\{(\w+)\}/g, ":$1");
      expect(status, `${method} ${path}`).to.not.be.oneOf([405, 500]);
      if (method === "OPTIONS") {
        expect(status, path).to.equal(204);
        expect(matched[0], path).to.equal(`- ${template}`);
      } else expect(matched, `${method} ${path}`).to.deep.equal([`${method} ${template}`]);
    }
  });
});
