import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { readAnswers, type WireAnswer } from "#test/harness/wire.ts";

const piecesMax = 200;

/** Sends `begin`, then `rest` again and again every `everyMs`, until the server closes. Throws when it does not. */
export async function trickle(
  port: number,
  begin: string,
  rest: string,
  everyMs: number,
): Promise<WireAnswer[]> {
  const socket = connect(port, "127.0.0.1");
  const heard: Buffer[] = [];
  let closed = false;
  socket.on("data", (chunk) => heard.push(chunk));
  // A piece that comes too late resets the connection.
  socket.on("error", () => {});
  socket.on("close", () => (closed = true));
  socket.write(begin);
  for (let n = 0; !closed && n < piecesMax; n++) {
    if (socket.writable) socket.write(rest);
    await sleep(everyMs);
  }
  if (!closed) socket.destroy();
  if (!closed) throw new Error("the server did not close the connection");
  return readAnswers(Buffer.concat(heard), "POST");
}
