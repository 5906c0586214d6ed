import { createHmac } from "node:crypto";

/**
 * Identity of a partner's user (decisions 1), hex: only this hash is kept. The raw bytes count, so two spellings are
 * two people, and so is the same text at two partners.
 */
export const partnerReporter = (pepper: string, partnerId: number, userRef: string): string =>
  createHmac("sha256", pepper).update(`p${partnerId}\0`).update(userRef, "utf8").digest("hex");

/** Identity of a widget's anonymous device, hex: the same on every page that shows the map. */
export const deviceReporter = (pepper: string, device: string): string =>
  createHmac("sha256", pepper).update("device\0").update(device, "utf8").digest("hex");

/** The hash of a widget viewer's network, stored with a mark, hex: new devices and harmful changes are counted by it. */
export const viewerHash = (pepper: string, network: string): string =>
  createHmac("sha256", pepper).update("viewer\0").update(network, "utf8").digest("hex");

/** A person in a request of a partner or the operator: a partner's user, or a device of the map. */
export type Person = { partner: number; userRef: string } | { device: string };

/** The person's identity, hex. */
export const reporterOf = (pepper: string, person: Person): string =>
  "device" in person
    ? deviceReporter(pepper, person.device)
    : partnerReporter(pepper, person.partner, person.userRef);
