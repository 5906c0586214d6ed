import { bundle } from "#demo/bundle.ts";
import { packClient } from "#demo/client-package.ts";

// `npm run build`: the roles and the client's package into dist/ and the pages into web/dist/. `roles` or `pages` for one of them alone; with
// `--if-changed` only what is made from something else than at the last build.
const args = process.argv.slice(2);
const all = !args.includes("roles") && !args.includes("pages");
const ifChanged = args.includes("--if-changed");
if (all || args.includes("roles"))
  await Promise.all([bundle(ifChanged, console.log), packClient(ifChanged, console.log)]);
if (all || args.includes("pages")) await import("#web/build/main.ts");
