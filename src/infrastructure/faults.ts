/** A lost connection in a driver's words: that error has neither a class nor a code of its own. */
export class ConnectionFault extends Error {}

/**
 * Gives a driver's bare `Error` its class. Only for what a driver itself rejects with: what its server says has a class
 * there (`DatabaseError`, `ReplyError`), and a bug is a `TypeError` or the like. Both stay as they are.
 */
export const withClass = (error: Error): Error =>
  error.constructor === Error && !("code" in error)
    ? new ConnectionFault(error.message, { cause: error })
    : error;

const codes = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/;

/** True for a connection that could not be made or was lost, whatever was at its other end. By class and Node's code. */
export function isNetworkFault(error: Error): boolean {
  if (error instanceof ConnectionFault) return true;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // A socket's file that is not there is ENOENT, as any other file.
  return typeof code === "string" && (codes.test(code) || syscall === "connect");
}
