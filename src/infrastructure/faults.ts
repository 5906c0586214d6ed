/** A connection that a driver reports as lost by an error without a class and a code of its own. */
export class ConnectionFault extends Error {}

/**
 * Gives a driver's bare `Error` its class. Only for rejections of the driver itself: its server's errors have a class
 * (`DatabaseError`, `ReplyError`), and a bug is a `TypeError` or similar. Both stay as they are.
 */
export const withClass = (error: Error): Error =>
  error.constructor === Error && !("code" in error)
    ? new ConnectionFault(error.message, { cause: error })
    : error;

const codes = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/;

/** True for a connection that could not be made or was lost, to any server. Decided by class and Node's code. */
export function isNetworkFault(error: Error): boolean {
  if (error instanceof ConnectionFault) return true;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // A missing socket file gives ENOENT, as any other file does.
  return typeof code === "string" && (codes.test(code) || syscall === "connect");
}
