import { expect } from "chai";
import { formatTime } from "#src/domain/time.ts";
import { type Client, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("flow: a mark through two web processes and two marks workers", function () {
  const roles = ["web", "web", "marks", "marks", "snapshots", "upkeep", "clock"];
  const stage = useStage(20, roles, { SLOT_MS: "1000" });
  const [first, second] = stage.clients as [Client, Client];

  it("keeps a `no` pending after fresh marks nearby until a second device confirms it, and shows it everywhere", async () => {
    const station = placeOf(0);
    await stage.country.meet("driver", 3 * 24 * 60);
    await stage.country.meet("one", 24 * 60 + 100);
    await stage.country.meet("two", 24 * 60 + 89);
    const nearby = await first.mark(placeOf(1), "driver", { status: "yes" });
    expect(nearby.status).to.equal(200);
    expect(nearby.body.published).to.deep.include({
      outcome: "published",
      status: "yes",
      needed: 1,
      have: 1,
      rule: "geolocated",
    });

    const since = (await second.get("/stations/delta?updated_since=2026-01-01")).status;
    expect(since).to.equal(422);
    const all = await until(
      () => second.get("/stations/all"),
      (answer) => find(answer.body, placeOf(1).id)?.fuel.status === "yes",
    );
    const etag = all.headers.get("etag")!;
    expect((await second.get("/stations/all", { "If-None-Match": etag })).status).to.equal(304);
    const area = `/stations?bbox=54.9,36.9,55.2,37.1`;
    const areaTag = (await first.get(area)).headers.get("etag")!;
    expect((await first.get(area, { "If-None-Match": areaTag })).status).to.equal(304);

    const pending = await first.mark(station, "one", { status: "no" });
    expect(pending.status).to.equal(200);
    expect(pending.body).to.deep.include({ accepted: true, remote: false, duplicate: false });
    expect(pending.body.published).to.deep.equal({
      outcome: "pending",
      status: "nodata",
      resolution_reason: "unconfirmed",
      needed: 2,
      have: 1,
      rule: "no-nearby-marks",
    });
    expect(pending.body.fuel).to.include({
      status: "nodata",
      pending_status: "no",
      pending_count: 1,
      resolution_reason: "unconfirmed",
    });

    const published = await second.mark(station, "two", { status: "no" });
    expect(published.body.published).to.deep.equal({
      outcome: "published",
      status: "no",
      resolution_reason: "published",
      needed: 2,
      have: 2,
      rule: "no-nearby-marks",
    });
    expect(published.body.fuel).to.include({
      status: "no",
      confirmations: 2,
      real_count: 2,
      pending_count: 0,
    });
    // The process that answered shows it in its very next read, the other one within a second.
    expect((await second.get(`/stations/${station.id}`)).body.station.fuel).to.deep.equal(
      published.body.fuel,
    );
    await until(
      () => first.get(`/stations/${station.id}`),
      (answer) => answer.body.station.fuel.status === "no",
    );
    for (const client of [first, second]) {
      expect(find((await client.get(area)).body, station.id)?.fuel.status).to.equal("no");
      const delta = await client.get(
        `/stations/delta?updated_since=${encodeURIComponent(all.body.as_of)}`,
      );
      expect(find(delta.body, station.id)?.fuel.status).to.equal("no");
    }
    const whole = await until(
      () => second.get("/stations/all", { "If-None-Match": etag }),
      (answer) => find(answer.body, station.id)?.fuel.status === "no",
    );
    expect(whole.status).to.equal(200);
    await until(
      () =>
        Promise.all(
          [first, second].map(async (client) => [
            (await client.get("/stations/all")).headers.get("etag"),
            (await client.get(area)).headers.get("etag"),
          ]),
        ),
      ([one, two]) => one!.join() === two!.join() && one![0] !== etag && one![1] !== areaTag,
    );
  });

  it("lets a mark observed 24 h less 15 s ago become nodata everywhere, in the delta too, 16 s later", async () => {
    const station = placeOf(10);
    const observed = Date.now() - 24 * 3600_000 + 15_000;
    const answer = await first.mark(station, "late", {
      status: "low",
      observed_at: formatTime(observed),
    });
    expect(answer.body.published).to.include({ outcome: "published", status: "low" });
    await until(
      () => second.get(`/stations/${station.id}`),
      (one) => one.body.station.fuel.status === "low",
    );
    const before = await until(
      () => second.get("/stations/all"),
      (all) => find(all.body, station.id)?.fuel.status === "low",
    );
    await later(Math.floor(observed / 1000) * 1000 + 24 * 3600_000 + 1000 - Date.now());
    for (const client of [first, second]) {
      expect((await client.get(`/stations/${station.id}`)).body.station.fuel).to.include({
        status: "nodata",
        resolution_reason: "no_data",
        updated: formatTime(observed),
      });
      expect(
        find(
          (await client.get("/stations?bbox=54.9,36.9,55.2,37.1&status=nodata")).body,
          station.id,
        )?.fuel.status,
      ).to.equal("nodata");
      const delta = await client.get(
        `/stations/delta?updated_since=${encodeURIComponent(before.body.as_of)}`,
      );
      expect(find(delta.body, station.id)?.fuel.status).to.equal("nodata");
      await until(
        () => client.get("/stations/all"),
        (all) => find(all.body, station.id)?.fuel.status === "nodata",
      );
    }
    const row = await until(
      () => stage.country.db("station_status").where({ station_id: station.id }).first("status"),
      (found) => found.status === "nodata",
    );
    expect(row.status).to.equal("nodata");
  });

  it("takes a mark again whose transaction Postgres ended while the process was busy", async () => {
    // As Postgres itself says it, once; the session lives on, which makes no difference to the mark.
    await stage.country.db.raw(`create sequence broken_off;
      create function break_off() returns trigger language plpgsql as $$ begin
        if nextval('broken_off') = 1 then raise exception 'idle' using errcode = '25P03'; end if;
        return new; end $$;
      create trigger break_off before insert on marks for each row execute function break_off()`);
    const answer = await first.mark(placeOf(9), "busy", { status: "yes" });
    await stage.country.db.raw("drop function break_off cascade");
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    const stored = await stage.country.db("marks").where({ station_id: placeOf(9).id });
    expect(stored).to.have.length(1);
  });

  it("answers 202 with the way to the outcome when the caller does not want to wait", async () => {
    const answer = await first.mark(
      placeOf(15),
      "hasty",
      { status: "queue", queue: "5-10" },
      { Prefer: "respond-async" },
    );
    expect(answer.status).to.equal(202);
    expect(answer.headers.get("preference-applied")).to.equal("respond-async");
    expect(answer.body.published).to.include({
      outcome: "queued",
      needed: null,
      have: null,
      rule: null,
    });
    const path = answer.headers.get("location")!.replace("/api/v1/partner", "");
    const report = await until(
      () => second.get(path),
      (one) => one.body.state === "processed",
    );
    expect(report.body).to.include({
      station_id: placeOf(15).id,
      report_id: answer.body.report_id,
      accepted: true,
    });
    expect(report.body.published).to.include({ outcome: "published", status: "queue" });
  });
});

interface Listed {
  stations?: { id: string; fuel: { status: string } }[];
}
const find = (body: Listed | null, id: string) =>
  body?.stations?.find((station) => station.id === id);
