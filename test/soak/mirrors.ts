import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { mirror, type MirrorState, type Store } from "#client/mirror.ts";
import type { Random } from "#demo/country/random.ts";
import type { Copy } from "#test/fault/history.ts";
import { hold } from "#test/harness/leaks.ts";
import { late, within } from "#test/harness/lines.ts";
import type { Member, SoakStage } from "#test/soak/stage.ts";

/** Partners who keep a copy of all stations. */
export interface Mirrors {
  /** Brings every copy up to date and answers them by the mirror's name. Rejects when one cannot be. */
  copies(): Promise<Map<string, Copy>>;
  stop(): Promise<void>;
}

const refreshMs = 120_000;

/** What mirrors ask, and where is said what cannot be had. */
type Mirrored = Pick<SoakStage, "missing"> & {
  country: Pick<SoakStage["country"], "secret">;
  webs: readonly Pick<Member, "process">[];
};

/** One by the stream, one by polls, both of which take any web process; one in Python, where there is a Python. */
export function startMirrors(stage: Mirrored, random: Random): Mirrors {
  const mirrors = [
    startMirror(stage, random, true),
    startMirror(stage, random, false),
    ...(hasPython() ? [startPython(stage)] : []),
  ];
  if (!hasPython()) stage.missing.push("the mirror in Python: no python3 of 3.9 or later");
  return {
    copies: async () => {
      const copies = await Promise.all(mirrors.map((one) => one.copy()));
      return new Map(mirrors.map(({ name }, n) => [name, copies[n]!]));
    },
    stop: async () => void (await Promise.all(mirrors.map((one) => one.stop()))),
  };
}

interface OneMirror {
  name: string;
  copy(): Promise<Copy>;
  stop(): Promise<void>;
}

/** A station as text that says the same however its fields came to stand. */
export const textOf = (station: object): string =>
  JSON.stringify(station, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );

function startMirror({ webs, country }: Mirrored, random: Random, stream: boolean): OneMirror {
  let saved: MirrorState | null = null;
  const store: Store = {
    load: async () => saved,
    save: async (state) => void (saved = structuredClone(state)),
  };
  const rotate = (url: string, init: RequestInit): Promise<Response> =>
    fetch(url.replace("http://balancer", random.pick(webs).process().baseUrl), init);
  const running = mirror({
    ...{ baseUrl: "http://balancer", key: country.secret, fetch: rotate, store, stream },
    ...{ pollMs: 2000, saveMs: 5000, silentMs: 5000, timeoutS: 10 },
  });
  const letGo = hold("a mirror", () => running.stop());
  return {
    name: stream ? "the mirror by the stream" : "the mirror by polls",
    copy: async () => {
      if ((await within(refreshMs, running.refresh())) === late) throw new Error("no refresh");
      return new Map([...running.stations].map(([id, station]) => [id, textOf(station)]));
    },
    stop: async () => {
      letGo();
      await running.stop();
    },
  };
}

const program = `
import json, sys
from fuelmark_mirror import Mirror
mirror = Mirror(sys.argv[1], sys.argv[2], timeout_s=10)
for line in sys.stdin:
    mirror.refresh()
    print(json.dumps(list(mirror.stations.values())), flush=True)
`;

const hasPython = (): boolean =>
  spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;

/** It asks the first web process, when it is told to. */
function startPython({ webs, country }: Mirrored): OneMirror {
  const { baseUrl } = webs[0]!.process();
  const child = spawn("python3", ["-c", program, baseUrl, country.secret], {
    env: { PATH: process.env["PATH"], PYTHONPATH: "client/python", PYTHONDONTWRITEBYTECODE: "1" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const letGo = hold("a mirror in Python", () => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  const refresh = async (): Promise<{ id: string }[]> => {
    const line = once(lines, "line") as Promise<[string]>;
    child.stdin.write("refresh\n");
    const said = await within(refreshMs, Promise.race([line, ended.then(() => late)]));
    if (said === late) throw new Error("the mirror in Python does not refresh");
    return JSON.parse((said as [string])[0]) as { id: string }[];
  };
  return {
    name: "the mirror in Python",
    copy: async () => new Map((await refresh()).map((station) => [station.id, textOf(station)])),
    stop: async () => {
      letGo();
      child.kill("SIGKILL");
      await ended;
    },
  };
}
