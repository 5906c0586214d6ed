import { bundle } from "#demo/bundle.ts";

// `npm run build`: the roles into dist/ and the pages into web/dist/. `roles` or `pages` for one of them alone; with
// `--if-changed` only what is made from something else than at the last build.
const args = process.argv.slice(2);
const all = !args.includes("roles") && !args.includes("pages");
if (all || args.includes("roles")) await bundle(args.includes("--if-changed"), console.log);
if (all || args.includes("pages")) await import("#web/build/main.ts");
