import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Collects all garbage now, as after a large load: left alone, V8 keeps the room for it until it has been busy for
 * long. Holds everything up, for about a tenth of a second: not for when somebody waits.
 */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  // The first one moves what is left together; only the next one gives the room back.
  collect();
}
