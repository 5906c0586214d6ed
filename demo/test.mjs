import "./runtime.mjs";

void import("./bootstrap.mjs").then(({ runTypeScript }) => runTypeScript("./testrun.ts"));
