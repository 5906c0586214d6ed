import { operate } from "#cli/operate.ts";

process.exitCode = await operate(process.argv.slice(2), process);
