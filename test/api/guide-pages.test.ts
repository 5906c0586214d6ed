import { expect } from "chai";
import { useEdge } from "#test/api/edge.ts";

describe("documents for programs", () => {
  const edge = useEdge();

  /** Links go to where the service says it is; in this test it listens elsewhere. */
  const read = async (url: string): Promise<Response> => {
    const response = await fetch(url.replace(edge.config.baseUrl, edge.origin));
    expect(response.status, url).to.equal(200);
    return response;
  };
  const linksOf = (text: string): string[] =>
    [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, link]) => link!);

  it("/llms.txt leads to Markdown whose links lead on, and to the API's description", async () => {
    const overview = await read(`${edge.origin}/llms.txt`);
    expect(overview.headers.get("content-type")).to.equal("text/markdown; charset=utf-8");
    const pages = linksOf(await overview.text());
    expect(pages).to.have.length(27);
    const onward = new Set<string>();
    for (const page of pages) {
      const response = await read(page);
      const text = await response.text();
      if (!page.endsWith(".md")) continue;
      expect(text, page).to.match(/^# /);
      expect(text, page).not.to.contain("{base}");
      for (const link of linksOf(text)) onward.add(new URL(link, page).href);
    }
    const own = [...onward].filter((link) => link.startsWith(edge.config.baseUrl));
    expect(own.length).to.be.above(3);
    for (const link of own) await (await read(link)).arrayBuffer();
  });

  it("/.well-known/api-catalog is a linkset that names the API and its documents", async () => {
    const response = await read(`${edge.origin}/.well-known/api-catalog`);
    expect(response.headers.get("content-type")).to.equal(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    );
    // decisions 17.6: a HEAD is enough to know that there is one.
    const head = await fetch(response.url, { method: "HEAD" });
    expect(await head.text()).to.equal("");
    for (const name of ["content-type", "etag"])
      expect(head.headers.get(name)).to.equal(response.headers.get(name));
    expect(head.headers.get("link")).to.equal('</.well-known/api-catalog>; rel="api-catalog"');
    const etag = head.headers.get("etag")!;
    const known = await fetch(response.url, { headers: { "If-None-Match": etag } });
    expect(known.status).to.equal(304);
    type Links = { href: string; type: string }[];
    const { linkset } = (await response.json()) as { linkset: Record<string, Links | string>[] };
    const [{ anchor, ...relations } = {}] = linkset;
    expect(relations).to.have.keys("service-desc", "service-doc", "status");
    expect(anchor).to.equal(`${edge.config.baseUrl}/api/v1/partner`);
    for (const links of Object.values(relations) as Links[])
      for (const { href, type } of links) {
        if (href.endsWith("/readyz")) continue;
        const found = await read(href);
        await found.arrayBuffer();
        if (!type.includes("openapi"))
          expect(found.headers.get("content-type"), href).to.contain(type);
      }
  });
});
