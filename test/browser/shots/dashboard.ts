import type { Page } from "playwright-core";
import { rows } from "#src/infrastructure/db.ts";
import { addKey } from "#test/api/edge.ts";
import { createClient } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { addPartner, type OtherPartner } from "#test/flow/more-partners.ts";
import { openPage, sharp, useBrowser, type PageOptions } from "#test/harness/browser.ts";
import { useStage } from "#test/flow/stage.ts";

// Part of `npm run screenshots`: docs/images/dashboard-*.png.
describe("screenshots: dashboard", function () {
  let partner: OtherPartner;

  useBrowser();
  const { country, web } = useStage(40, ["web", "marks"]);
  before(async () => {
    partner = await addPartner(country, { rpm: 600, daily: 50_000 });
    await fill();
    await work();
  });

  /** A partner in the middle of its work: weeks of requests, decisions, keys. */
  async function fill(): Promise<void> {
    const { db } = country;
    const { id } = partner;
    await rows(db, "update partners set name = 'Roadside Maps' where id = ?", [id]);
    const used = `insert into usage_days
      select ?, current_date - n, ?, m, (w * k)::int, (w * k * s)::int, (w * 3)::int
      from generate_series(0, 95) n, unnest(?::text[], ?::float8[], ?::float8[]) as t(m, w, s),
        lateral (select (1000 + 300 * sin(n) + 23 * ((n * 7919) % 13)) * case n when 0 then 0.7 else 1 end as k) x`;
    const methods = [
      ["GET /stations/delta", 1.4, 0],
      ["GET /stations", 0.9, 0.6],
      ["POST /stations/{station_id}/report", 0.6, 0],
      ["GET /stations/{station_id}", 0.35, 0.3],
      ["GET /stations/all", 0.15, 0.8],
      ["GET /cities", 0.05, 0],
      ["GET /usage", 0.02, 0],
    ] as const;
    const column = (at: 0 | 1 | 2) => methods.map((method) => method[at]);
    await rows(db, used, [id, "partner", column(0), column(1), column(2)]);
    const decided = `insert into limit_requests
      (partner_id, status, requested_rpm, requested_daily, created_at, decided_at, decision_comment)
      select ?, s, r, d, server_now() - a * interval '1 day', server_now() - (a - 1) * interval '1 day', c
      from (values ('approved', 600, 50000, 40, 'Welcome.'), ('rejected', 100000, 900000, 20, 'Please tell us what for.')) v(s, r, d, a, c)`;
    await rows(db, decided, [id]);
    const ago = (hours: number): Date => new Date(Date.now() - hours * 3600_000);
    await addKey(db, id, "publishable", {
      label: "shop",
      domains: ["maps.example", "roadside.example"],
      last_used_at: ago(0.1),
    });
    const old = { label: "old server", revoked_at: ago(30), last_used_at: ago(40) };
    await addKey(db, id, "secret", old);
  }

  /** A minute's requests and a morning's marks. */
  async function work(): Promise<void> {
    const api = createClient(web.baseUrl, partner.secret);
    await Promise.all(Array.from({ length: 143 }, () => api.get("/cities")));
    for (let n = 0; n < 36; n += 1) {
      const place = placeOf(n);
      const status = (["yes", "queue", "low", "no"] as const)[n % 4]!;
      await api.mark(n % 5 === 3 ? { ...place, lat: 10 } : place, `user ${n % 17}`, { status });
    }
  }

  const views: [name: string, options: PageOptions, part: string | null][] = [
    ["light", { width: 1280, height: 1020 }, null],
    ["dark", { width: 1280, height: 1020, dark: true }, "limits"],
    ["phone", { width: 390, height: 844, phone: true }, "requests"],
  ];
  for (const [name, options, part] of views) {
    it(`takes dashboard-${name}.png`, async () => {
      const { page } = await openPage(sharp(options));
      await signIn(page);
      if (part !== null) await page.goto(`${page.url()}#${part}`);
      await page
        .locator(`#${part ?? "requests"} table, #${part ?? "requests"} svg`)
        .first()
        .waitFor();
      await page.screenshot({ path: `docs/images/dashboard-${name}.png` });
    });
  }

  async function signIn(page: Page): Promise<void> {
    await page.goto(`${web.baseUrl}/dashboard/`);
    await page.getByLabel("Secret key").fill(partner.secret);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("slider", { name: "Requests per day by method" }).waitFor();
  }
});
