import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { type Answer, type Client, until } from "#test/flow/client.ts";
import { useAccount } from "#test/flow/console-client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { useFolder } from "#test/harness/use.ts";

const all = "/stations/all?limit=30000";
const box = ({ lat, lon }: { lat: number; lon: number }): string =>
  `/stations?bbox=${lat - 0.001},${lon - 0.001},${lat + 0.001},${lon + 0.001}`;

describe("flow: stations corrected by hand (decisions 13.16)", function () {
  const {
    country,
    web,
    operator,
    client: partner,
    page,
  } = useStage(10, ["web", "snapshots", "clock"], { SIGN_INS_PER_MINUTE: "1000" });
  const olga = useAccount(country, () => web.baseUrl);
  const folder = useFolder();

  const edit = (id: string, body: object): Promise<Answer> =>
    olga.call("PATCH", `/stations/${id}`, body);
  const served = async (id: string) => (await partner.get(`/stations/${id}`)).body.station;
  const cursor = async (): Promise<string> => (await partner.get(all)).body.as_of;
  const delta = async (since: string) =>
    (await partner.get(`/stations/delta?updated_since=${encodeURIComponent(since)}`)).body;
  const idsIn = async (client: Client, path: string): Promise<string[]> =>
    (await client.get(path)).body.stations.map(({ id }: { id: string }) => id);
  /** Imports an extract of these stations, by their numbers, as the files of `openCountry` would have them. */
  const importFile = async (numbers: readonly number[], tags: object = {}) => {
    const elements = numbers.map((n) => {
      const { id, lat, lon } = placeOf(n);
      const own = { brand: "Brand", name: `Station ${id}`, "addr:full": "Street 1" };
      return { type: "node", id: 1000 + n, lat, lon, tags: { amenity: "fuel", ...own, ...tags } };
    });
    const path = join(folder.path, "file.json");
    await writeFile(path, JSON.stringify({ elements }));
    const args = ["stations", "import", path, "--source", "test", "--replace-source"];
    return (await operator(...args)).json;
  };
  const everyone = Array.from({ length: 10 }, (_, n) => n);

  it("shows an edit in the station, the delta, the whole country and the rectangles", async () => {
    const { id, lat, lon } = placeOf(1);
    const to = { lat: lat + 0.5, lon };
    const since = await cursor();
    const before = await partner.get(all);
    expect(await idsIn(page, box(placeOf(1)))).to.include(id);
    expect(await idsIn(page, box(to))).to.deep.equal([]);
    const answer = await edit(id, { name: "Новая", position: to, was: { name: `Station ${id}` } });
    expect(answer.status).to.equal(200);
    expect(answer.body.before).to.deep.equal({ name: `Station ${id}`, position: { lat, lon } });
    await until(
      () => served(id),
      (station) => station.name === "Новая" && station.lat === to.lat,
    );
    const { stations } = await delta(since);
    const inDelta = stations.find((one: { id: string }) => one.id === id);
    expect(inDelta).to.include({ name: "Новая", lat: to.lat });
    const etag = before.headers.get("etag")!;
    const dump = await until(
      () => partner.get(all, { "If-None-Match": etag }),
      ({ status }) => status === 200,
    );
    expect(dump.headers.get("etag")).to.not.equal(etag);
    const inDump = dump.body.stations.find((one: { id: string }) => one.id === id);
    expect(inDump).to.include({ name: "Новая", lat: to.lat });
    await until(
      () => idsIn(page, box(to)),
      (ids) => ids.includes(id),
    );
    await until(
      () => idsIn(page, box(placeOf(1))),
      (ids) => !ids.includes(id),
    );
  });

  it("writes down who edited what, before and after", async () => {
    const { id } = placeOf(2);
    await edit(id, { brand: "Полюс", addr: "" });
    const { entries } = (await olga.call("GET", `/log?subject=station ${id}`)).body;
    expect(entries[0]).to.deep.include({
      ...{ actor: "olga", action: "station.edit", subject: `station ${id}` },
      details: {
        before: { brand: "Brand", addr: "Street 1" },
        after: { brand: "Полюс", addr: "" },
      },
    });
  });

  it("keeps an edit when the extract is imported again, and goes back to what the file has by then", async () => {
    const { id } = placeOf(3);
    await edit(id, { name: "By hand" });
    const summary = await importFile(everyone, { "addr:full": "Street 9" });
    expect(summary).to.include({ read: 10, added: 0, removed: 0 });
    // Name and place of number 1, brand and address of number 2, and this name.
    expect(summary.kept_by_hand).to.equal(5);
    await until(
      () => served(id),
      (station) => station.addr === "Street 9",
    );
    expect(await served(id)).to.include({ name: "By hand" });
    expect(await served(placeOf(2).id)).to.include({ brand: "Полюс", addr: "" });
    const shown = (await olga.call("GET", `/stations/${id}`)).body;
    expect(shown.by_hand).to.deep.include({ name: `Station ${id}`, addr: null, in_service: null });
    expect((await edit(id, { from_file: ["name"] })).status).to.equal(200);
    await until(
      () => served(id),
      ({ name }) => name === `Station ${id}`,
    );
  });

  it("closes a station like an import that removes it, and keeps it closed when the file has it", async () => {
    const { id } = placeOf(4);
    const since = await cursor();
    const closed = await olga.call("POST", `/stations/${id}/close`, { comment: "demolished" });
    expect(closed.body.station).to.deep.include({ id, in_service: false });
    const isGone = ({ status }: Answer): boolean => status === 404;
    await until(() => partner.get(`/stations/${id}`), isGone);
    expect((await delta(since)).removed).to.deep.include(id);
    await until(
      () => idsIn(page, box(placeOf(4))),
      (ids) => !ids.includes(id),
    );
    const marked = await partner.mark(placeOf(4), "driver", { status: "no" });
    expect(marked.status).to.equal(404);
    expect((await importFile(everyone)).removed).to.equal(0);
    const { removed } = (await olga.call("GET", `/stations/${id}`)).body.station;
    expect([removed, (await partner.get(`/stations/${id}`)).status]).to.deep.equal([true, 404]);
    const twice = await olga.call("POST", `/stations/${id}/close`, {});
    expect([twice.status, twice.body.detail]).to.deep.equal([
      409,
      "This station is out of service already.",
    ]);
    await olga.call("POST", `/stations/${id}/reopen`);
    await until(
      () => partner.get(`/stations/${id}`),
      ({ status }) => status === 200,
    );
  });
});
