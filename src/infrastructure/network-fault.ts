const codes = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/;

/** True for Node's error of a connection that could not be made or was lost, whatever was at its other end. */
export function isNetworkFault(error: Error): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  // A socket's file that is not there is ENOENT, as any other file.
  return typeof code === "string" && (codes.test(code) || syscall === "connect");
}
