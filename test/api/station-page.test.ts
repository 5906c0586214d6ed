import { expect } from "chai";
import { pino } from "pino";
import { sharePicture, shownThings } from "#api/pages/share-tags.ts";
import { issueConsumerKey } from "#src/keys/consumer-key.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { useEdgeOn } from "#test/api/edge.ts";

describe("api: a station's page, and the stations in the map's page", () => {
  const { instance, country } = useStage(30, [], { KEYS_REFRESH_MS: "100" });
  const evil = `</title>"><script>alert("x")</script>$&`;

  before(async () => {
    await country
      .db("stations")
      .where({ id: placeOf(0).id })
      .update({ name: evil });
  });
  const edge = useEdgeOn(instance, { log: pino({ level: "silent" }) });

  const open = async (path: string) => {
    const response = await fetch(edge.origin + path, { redirect: "manual" });
    const policy = response.headers.get("content-security-policy") ?? "";
    return { status: response.status, policy, text: await response.text() };
  };
  const tag = (text: string, name: string): string | undefined =>
    new RegExp(`<meta property="og:${name}" content="([^"]*)"`).exec(text)?.[1];

  it("tells the facts without a map as long as the map has no key, and 404 of no station", async () => {
    const { status, policy, text } = await open(`/s/${placeOf(1).id}?lang=ru`);
    expect(status).to.equal(200);
    expect(policy).to.match(/^default-src 'none'/);
    expect(text).to.include("<h1>Station n1001: Нет данных</h1>").and.include("Street 1");
    for (const id of ["nobody", "%00", "a%2Fb"])
      expect((await open(`/s/${id}`)).status).to.equal(404);
  });

  it("is the map with its key, with tags for messengers and names as text", async () => {
    await issueConsumerKey(country.db, instance.config);
    await until(
      () => open("/"),
      ({ status }) => status === 200,
    );
    const { status, text } = await open(`/s/${placeOf(1).id}`);
    expect(status).to.equal(200);
    expect(text).to.include('name="station" content="n1001"').and.include('id="app"');
    expect(tag(text, "title")).to.equal("Station n1001: No data");
    expect(tag(text, "description")).to.equal("Street 1");
    const { href } = new URL(`s/n1001`, `${instance.config.baseUrl}/`);
    expect(tag(text, "url")).to.equal(href);
    expect(text).to.include(`<link rel="canonical" href="${href}" />`);
    expect(tag(text, "image:alt")).to.equal("No data");
    const bad = (await open(`/s/${placeOf(0).id}`)).text;
    expect(bad.match(/<script/g)).to.deep.equal(text.match(/<script/g));
    expect(bad).to.include("&lt;/title&gt;&quot;&gt;&lt;script&gt;").and.include("$&amp;");
  });

  it("has a picture for each status and for the map, in both languages, as large as its tags say", async () => {
    const pictures = await Promise.all(
      (["en", "ru"] as const).flatMap((language) =>
        shownThings.map(async (shown) => {
          const { file, width, height } = sharePicture(shown, language);
          const answer = await fetch(`${edge.origin}/pictures/${file}`);
          expect(answer.status, file).to.equal(200);
          expect(answer.headers.get("content-type")).to.equal("image/png");
          expect(answer.headers.get("cache-control")).to.equal("public,max-age=86400");
          const bytes = Buffer.from(await answer.arrayBuffer());
          // The size stands in a PNG's first part.
          expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).to.deep.equal([width, height]);
          return bytes.toString("base64");
        }),
      ),
    );
    expect(new Set(pictures).size).to.equal(shownThings.length * 2);
    const at = async (path: string) => new URL(tag((await open(path)).text, "image")!).pathname;
    expect(await at(`/s/${placeOf(1).id}?lang=ru`)).to.equal("/pictures/share-nodata-ru.png");
    expect(await at("/")).to.equal("/pictures/share-map-en.png");
  });

  it("puts the stations nearest to where the map opens into its page, few enough for a slow phone", async () => {
    const rows = async (path: string): Promise<string[]> =>
      [...(await open(path)).text.matchAll(/data-id="(\w+)"/g)].map(([, id]) => id!);
    const { id, lat, lon } = placeOf(25);
    const widget = `/widget/?key=${country.publishable}`;
    const near = `&lat=${lat}&lon=${lon}`;
    expect(await rows(widget + near)).to.have.length(20);
    expect((await rows(widget + near))[0]).to.equal(id);
    expect((await rows(`${widget}&city=тестоград&lat=north`))[0]).to.equal(placeOf(0).id);
    expect(await rows(`${widget}&lat=10&lon=10`)).to.deep.equal([]);
    expect((await open(widget + near)).text.length).to.be.lessThan(30_000);
    // The operator's own map begins with those that have fuel: none here.
    expect(await rows(`/?${near}`)).to.deep.equal([]);
  });
});
