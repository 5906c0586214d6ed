import { runTypeScript } from "./bootstrap.mjs";

await runTypeScript("./launcher.ts");
