import { actCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import type { ConsoleKey } from "#src/contract/console.ts";
import { changeKey, type IssuedKey, issueKey, limitKey, revokeKey } from "#src/keys/issued-keys.ts";
import { inMs, presented } from "#src/operators/presented.ts";

/** A key as the console's page takes it. */
export const consoleKey = (key: IssuedKey): ConsoleKey => presented(key, inMs);

const answer = (key: IssuedKey) => ({ key: consoleKey(key) });

/** Keys of partners: issue (the text is in this answer and nowhere else), change, revoke. */
export const keyCalls = (services: ConsoleDeps): ConsoleCall[] => [
  actCall(services, "POST", "/keys", issueKey, {
    status: 201,
    answer: ({ key, text }) => ({ id: key.id, key: text }),
  }),
  actCall(services, "PATCH", "/keys/{id}", changeKey, { answer }),
  actCall(services, "POST", "/keys/{id}/limit", limitKey, { answer }),
  actCall(services, "POST", "/keys/{id}/revoke", revokeKey),
];
