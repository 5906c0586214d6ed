import type { ConsoleDeps } from "#api/console/deps.ts";
import { actCall, type ConsoleCall, consoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleBrands } from "#src/contract/console.ts";
import { aliasBrand, listAliases, listBrands, unaliasBrand } from "#src/import/brand-aliases.ts";

const shownMax = 200;

/** Brands that nobody knows, and the aliases (decisions 14.25). */
export const brandCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/brands", { role: "viewer" }, async (ctx) => {
    const [aliases, brands] = await Promise.all([
      listAliases(services.db),
      listBrands(services.db),
    ]);
    const unknown = brands.filter(({ known }) => known === "no");
    const count = (some: typeof brands): number =>
      some.reduce((sum, { stations }) => sum + stations, 0);
    const stations = count(brands);
    ctx.body = {
      ...{ aliases, brands: unknown.slice(0, shownMax), unknown: unknown.length },
      ...{ stations, stations_known: stations - count(unknown) },
    } satisfies ConsoleBrands;
  }),
  actCall(services, "POST", "/brands/{id}/alias", aliasBrand, { answer: (done) => done }),
  actCall(services, "DELETE", "/brands/{id}/alias", unaliasBrand),
];
