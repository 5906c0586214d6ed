/** Parts of a service worker's scope that the types of pages lack. */
export interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

export interface SyncEvent extends WorkerEvent {
  tag: string;
  /** The browser will not try again after this one. */
  lastChance: boolean;
}

export interface WorkerScope {
  location: { href: string };
  clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: WorkerEvent) => void): void;
  addEventListener(type: "sync", listener: (event: SyncEvent) => void): void;
}

/** A file that is kept from the start; `revision` is null where its name holds its content's hash. */
export interface PrecacheEntry {
  url: string;
  revision: string | null;
}
