import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { WaitingEntry } from "#web/widget/offline/waiting-entry.ts";

interface Schema extends DBSchema {
  /** Marks that have not arrived yet. */
  marks: { key: string; value: WaitingEntry };
  /** The map's state for a start without the service. */
  kept: { key: string; value: unknown };
}

let opened: Promise<IDBPDatabase<Schema>> | null = null;

/** This browser's own database of the map. Rejects where the browser allows a frame none. */
export async function database(): Promise<IDBPDatabase<Schema>> {
  opened ??= openDB<Schema>("fuelmark", 1, {
    upgrade(db) {
      db.createObjectStore("marks", { keyPath: "id" });
      db.createObjectStore("kept");
    },
    // A newer version of the map waits until this one lets go.
    blocking: (_from, _to, event) => {
      (event.target as IDBDatabase).close();
      opened = null;
    },
    terminated: () => (opened = null),
  });
  return opened;
}
