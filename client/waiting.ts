import { type ApiError, isApiError } from "./problem.ts";

/** A wait: the error, the time since which calls have failed without a success, and the length of this wait. */
export interface Wait {
  error: unknown;
  /** Time by this machine's clock. */
  since: Date;
  waitMs: number;
}

/** The way to the server is wrong: a name that nobody has, another protocol behind the port, a certificate not to be trusted. */
const wrongWay =
  /^(ENOTFOUND|EPROTO|ERR_INVALID_URL|ERR_SSL_.*|ERR_TLS_.*|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*)$/;

/** True where the same comes again however long one waits, unless a person changes something. */
export const isFinal = (error: unknown): error is ApiError =>
  isApiError(error) && (error.status === 0 ? isWrongWay(error) : isRefusal(error.status));

const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && ![408, 429].includes(status);

function isWrongWay(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return (typeof code === "string" && wrongWay.test(code)) || isWrongWay(cause);
}
