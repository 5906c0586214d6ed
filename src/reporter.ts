import { createHmac } from "node:crypto";

/**
 * Identity of a partner's user (decisions.md 1), hex: only this hash is kept. The raw bytes count, so that two
 * spellings are two people, and the same text at two partners as well.
 */
export const partnerReporter = (pepper: string, partnerId: number, userRef: string): string =>
  createHmac("sha256", pepper).update(`p${partnerId}\0`).update(userRef, "utf8").digest("hex");
