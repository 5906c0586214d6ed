import { get } from "node:http";

export interface Got {
  status: number;
  etag: string;
  /** Bytes of the body as it came, compressed or not. */
  body: number;
  /** Bytes on the wire, head included. */
  whole: number;
}

/** Asks once, on a connection of its own, and counts what comes. */
export const getBytes = (url: string, headers: Record<string, string>): Promise<Got> =>
  new Promise((resolve, reject) => {
    // Pseudo-headers of HTTP/2 are a browser's own.
    const sent = Object.fromEntries(
      Object.entries(headers).filter(([name]) => !name.startsWith(":")),
    );
    const request = get(url, { headers: sent, agent: false }, (response) => {
      let body = 0;
      response.on("data", (chunk: Buffer) => (body += chunk.length));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          etag: response.headers.etag ?? "",
          body,
          whole: response.socket.bytesRead,
        }),
      );
      response.on("error", reject);
    });
    request.on("error", reject);
  });
