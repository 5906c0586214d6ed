import { expect } from "chai";
import fc from "fast-check";
import { readStream, type StreamMessage } from "#client/stream.ts";
import { sized } from "#test/harness/long.ts";

const events =
  ': hello\nretry: 10\n\nid: 1\ndata: {"stations":[{"id":"ё😀"}]}\n\n: beat\r\nid: 2\r\n\r\nevent: news\nid: 3\ndata: {}\n\n\nid: 4\ndata: {"stations":\ndata: []}\n\nid: torn\ndata: {';

/** The messages of a stream whose bytes come in these pieces. */
async function messagesOf(pieces: readonly Uint8Array[]): Promise<StreamMessage[]> {
  const body = new ReadableStream<Uint8Array>({
    start(to) {
      for (const piece of pieces) to.enqueue(piece);
      to.close();
    },
  });
  const headers = { "Content-Type": "text/event-stream" };
  const fetch = () => Promise.resolve(new Response(body, { headers }));
  const settings = { baseUrl: "http://x.example", key: "k", fetch };
  const found: StreamMessage[] = [];
  const options = { since: "0", silentMs: 10_000, signal: new AbortController().signal };
  for await (const message of readStream(settings, options)) found.push(message);
  return found;
}

describe("a client's stream", () => {
  it("gives the same messages in whatever pieces its bytes come", async () => {
    const bytes = Buffer.from(events);
    const right = await messagesOf([bytes]);
    expect(right.flatMap(({ delta }) => delta?.stations ?? [])).to.deep.equal([{ id: "ё😀" }]);
    expect(right.map(({ asOf }) => asOf)).to.deep.equal([null, "1", "2", "3", null, "4"]);
    const cuts = fc.uniqueArray(fc.nat({ max: bytes.length }), { maxLength: bytes.length });
    const property = fc.asyncProperty(cuts, async (some) => {
      const ends = [...some.toSorted((a, b) => a - b), bytes.length];
      const pieces = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
      expect(await messagesOf(pieces)).to.deep.equal(right);
    });
    await fc.assert(property, { numRuns: sized(100, 1000) });
    expect(await messagesOf([...bytes].map((byte) => Uint8Array.of(byte)))).to.deep.equal(right);
  });
});
