import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { isMissingPartition } from "#src/marks/marks.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

describe("flow: a day that has no partition of marks", () => {
  const { country, client } = useStage(2, ["web", "marks"]);

  const dropPartitions = () =>
    rows(
      country.db,
      `do $$ begin execute (
         select coalesce(string_agg('drop table ' || inhrelid::regclass, ';'), 'select') from pg_inherits
         where inhparent = 'marks'::regclass); end $$`,
    );
  const insert = (status: string) =>
    rows(
      country.db,
      `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule)
       values (next_mark_id(server_now()), 'n1', 1, 'partner', ?, server_now(), server_now(), false, 1, 'geolocated')`,
      [status],
    ).then(
      () => null,
      (error: Error) => error,
    );

  it("is told by what the server says in fields, not by its words", async () => {
    const wrong = await insert("unheard of");
    expect(wrong).to.include({ code: "23514" });
    expect(isMissingPartition(wrong)).to.equal(false);
    await dropPartitions();
    const missing = await insert("yes");
    expect(missing).to.include({ code: "23514", schema: "public", table: "marks" });
    expect(isMissingPartition(missing)).to.equal(true);
    missing!.message = 'для строки не найдена секция в отношении "marks"';
    expect(isMissingPartition(missing)).to.equal(true);
    const others = [{ table: "opinions" }, { code: "23505" }, { constraint: "marks_status_check" }];
    for (const other of others)
      expect(isMissingPartition({ code: "23514", table: "marks", ...other })).to.equal(false);
  });

  it("gets one when a mark comes", async () => {
    await dropPartitions();
    const answer = await client.mark(placeOf(1), "user", { status: "yes" });
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 202]);
    expect(await rows(country.db, "select from marks")).to.have.length(1);
  });
});
