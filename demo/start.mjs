import "./runtime.mjs";

// Not awaited here: a Node that is too old for that must get as far as the line above.
void import("./bootstrap.mjs").then(({ runTypeScript }) => runTypeScript("./launcher.ts"));
