import { runTypeScript } from "./bootstrap.mjs";

await runTypeScript("./testrun.ts");
