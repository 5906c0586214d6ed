import { signal } from "@preact/signals";
import { recall, remember } from "#web/kit/storage.ts";

const name = "embed-keys";
const most = 5;
const form = /^pk_live_[0-9A-Za-z]{5,190}$/;

/**
 * The publishable keys that were found good here, the newest first. They stand in pages anyway; the service has only
 * their hashes, so nobody else can fill them in.
 */
export const keptKeys = signal<readonly string[]>(read());

/** The beginning by which the dashboard tells keys apart: `pk_live_Ab12`. */
export const prefixOf = (key: string): string => key.slice(0, "pk_live_".length + 4);

export function keepKey(key: string): void {
  if (form.test(key)) write([key, ...keptKeys.value.filter((one) => one !== key)].slice(0, most));
}

export function forgetKey(key: string): void {
  write(keptKeys.value.filter((one) => one !== key));
}

function write(keys: readonly string[]): void {
  keptKeys.value = keys;
  remember(name, keys.length === 0 ? null : keys.join(" "));
}

function read(): string[] {
  return (recall(name) ?? "").split(" ").filter((key) => form.test(key));
}
