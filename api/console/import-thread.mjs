import { register } from "tsx/esm/api";

// A thread does not take over the loader of its process: it needs one of its own for TypeScript.
register();
await import("./import-thread.ts");
