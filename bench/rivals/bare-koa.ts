import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Router } from "@koa/router";
import Koa from "koa";
import type { Recorded } from "#bench/rivals/raw-node.ts";

// The rival of `npm run bench -- reads` and `-- cache`: a bare Koa application with @koa/router that answers constants.
// It asks for no key, counts nothing and sets no header of its own; below `/whole` it sets those of the answer.
const folder = process.env["RECORDED"]!;
const recorded = JSON.parse(readFileSync(join(folder, "recorded.json"), "utf8")) as Recorded[];
const station = recorded.find(({ url }) => /\/stations\/\w+$/.test(url));
const body = station === undefined ? "" : readFileSync(join(folder, station.file));
const lists = new Map(
  recorded
    .filter(({ url, gzip }) => gzip && url.includes("bbox="))
    .map(({ url, headers, file }) => [url, { headers, list: readFileSync(join(folder, file)) }]),
);

const router = new Router({ prefix: "/api/v1/partner" });
router.get("/stations/all", (ctx) => {
  ctx.status = 304;
});
router.get("/stations", (ctx) => {
  ctx.type = "json";
  ctx.set("Content-Encoding", "gzip");
  ctx.body = lists.get(ctx.url)?.list;
});
const whole = new Router({ prefix: "/whole/api/v1/partner" });
whole.get("/stations", (ctx) => {
  const { headers = {}, list } = lists.get(ctx.url.slice("/whole".length)) ?? {};
  ctx.set(headers);
  ctx.body = list;
});
router.get("/stations/:station_id", (ctx) => {
  ctx.type = "json";
  ctx.body = body;
});
const app = new Koa();
app.use(router.routes());
app.use(whole.routes());
app.listen(Number(process.env["PORT"]), "127.0.0.1", () =>
  console.log(JSON.stringify({ msg: "ready" })),
);
process.on("SIGTERM", () => process.exit(0));
