import { randomBytes } from "node:crypto";
import { assembleWeb, type Web, type WebParts } from "#api/assemble.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { hashKey, keyPrefix, newKey, type KeyKind } from "#src/keys/key-text.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { use } from "#test/harness/use.ts";
import { unwatchWeb, watchWeb } from "#test/harness/watched.ts";

export interface Edge {
  config: Config;
  db: Db;
  web: Web;
  origin: string;
  /** Of the partner's API. */
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** A web process in this one, on a free port. */
export async function startEdge(config: Config, parts: WebParts = {}): Promise<Edge> {
  const web = assembleWeb(config, parts);
  const { port } = await web.start();
  const origin = `http://127.0.0.1:${port}`;
  if (parts.routes === undefined) watchWeb(origin);
  else unwatchWeb(origin);
  const url = `${origin}/api/v1/partner`;
  const stop = async (): Promise<void> => {
    await web.stop();
    unwatchWeb(origin);
  };
  return { config, db: web.services.db, web, origin, url, port, stop };
}

/** A web process of a `describe`, with a database and a Redis prefix of its own; its log is silent. */
export const useEdge = ({
  settings = {},
  ...parts
}: WebParts & { settings?: Record<string, string> } = {}): Edge & { instance: TestInstance } =>
  use(
    async () => {
      const instance = await startInstance(settings);
      return { instance, ...(await startEdge(instance.config, parts)) };
    },
    async ({ stop, instance }) => {
      await stop();
      await instance.drop();
    },
    { instance: {} },
  );

/** A further web process of a `describe` on the same instance. */
export const useEdgeOn = (instance: Pick<TestInstance, "config">, parts: WebParts = {}): Edge =>
  use(
    () => startEdge(instance.config, parts),
    ({ stop }) => stop(),
  );

/** Has `before` awaited between the making of a rectangle and its storing. */
export function beforeStoring({ web }: Edge, before: () => Promise<void>): void {
  const { store } = web.services.rectangles;
  const { save } = store;
  store.save = async (...entry) => {
    await before();
    await save(...entry);
  };
}

/** Settings of a test file's own database and Redis prefix, and a silent log. */
export const startInstance = (settings: Record<string, string> = {}): Promise<TestInstance> =>
  createTestInstance({ LOG_LEVEL: "silent", ...settings });

/** Inserts a partner. Answers its id. */
export async function addPartner(db: Db, partner: object = {}): Promise<number> {
  const [row] = (await db("partners")
    .insert({ name: "Test", ...partner })
    .returning("id")) as { id: number }[];
  return (row as { id: number }).id;
}

/** Issues a key. Answers its text. */
export async function addKey(
  db: Db,
  partnerId: number,
  kind: KeyKind = "secret",
  key: object = {},
): Promise<string> {
  const text = newKey(kind, randomBytes(32));
  await db("keys").insert({
    partner_id: partnerId,
    kind,
    prefix: keyPrefix(text),
    hash: Buffer.from(hashKey(text), "hex"),
    ...key,
  });
  return text;
}

export const bearer = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });
