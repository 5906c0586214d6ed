// Plain JavaScript: `npm run operator` works with the packages of production alone.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const bundle = new URL("../dist/operator.js", import.meta.url);

if (existsSync(fileURLToPath(bundle))) void import(bundle.href);
else {
  console.error("the command line is not built yet: run `npm start` or `npm run build` first");
  process.exitCode = 1;
}
