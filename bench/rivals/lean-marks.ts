import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { json } from "node:stream/consumers";
import knexFactory from "knex";
import Koa from "koa";

// The rival of `npm run bench -- marks-rival`: a mark as one transaction of the least that a service of marks does,
// by Koa and knex alone. No keys, no limits, no rules.
const knex = knexFactory({ client: "pg", connection: process.env["DATABASE_URL"]! });
await knex.raw(`create table lean_stations as select id, '{}'::jsonb as state from stations`);
await knex.raw("alter table lean_stations add primary key (id)");
await knex.raw(`create table lean_marks (id bigserial primary key, station_id text not null references lean_stations,
  user_ref text not null, at timestamptz not null default now(), mark jsonb not null)`);
await knex.raw("create index on lean_marks (station_id, at)");
await knex.raw("create table lean_changes (seq bigserial primary key, station_id text not null)");
await knex.raw("vacuum analyze lean_stations");

const app = new Koa();
app.use(async (ctx) => {
  const station_id = ctx.path.split("/").at(-2)!;
  const mark = (await json(ctx.req)) as { user_ref: string; status: string };
  ctx.body = await knex.transaction(async (tx) => {
    const [station] = (await tx("lean_stations").where({ id: station_id }).forUpdate()) as object[];
    if (station === undefined) ctx.throw(404);
    await tx("lean_marks").insert({ station_id, user_ref: mark.user_ref, mark });
    const [found] = await tx("lean_marks")
      .where({ station_id })
      .where("at", ">", tx.raw("now() - interval '24 hours'"))
      .countDistinct("user_ref as users");
    const state = { ...mark, users: Number(found!["users"]), updated: new Date().toISOString() };
    await tx("lean_stations").where({ id: station_id }).update({ state });
    await tx("lean_changes").insert({ station_id });
    return state;
  });
});
const server = createServer(app.callback() as RequestListener);
server.listen(Number(process.env["PORT"]), "127.0.0.1");
await once(server, "listening");
console.log(JSON.stringify({ msg: "ready" }));
process.on("SIGTERM", () => process.exit(0));
