import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { addKey, addPartner } from "#test/api/edge.ts";
import { writeStations } from "#test/api/reads-country.ts";
import { until } from "#test/flow/client.ts";
import { itLong, sized } from "#test/harness/long.ts";
import { useInstance } from "#test/harness/use.ts";
import { useEdgeOn } from "#test/api/edge.ts";

const digestOf = (body: Buffer): string =>
  createHash("sha1")
    // The only part that time changes.
    .update(body.toString("latin1").replace(/"as_of":"[^"]*"/, ""))
    .digest("hex");

/** Of 900 stations, so that every form is long enough for a buffer that is used again. */
const stations = Array.from({ length: 900 }, (_, n) => ({
  id: `n${1_000_000 + n}`,
  lat: 50 + (n % 40) / 20,
  lon: 30 + Math.floor(n / 40) / 20,
  name: `Station ${n}`,
  addr: `${"Long street ".repeat(1 + (n % 9))}${n}`,
}));
/**
 * Each `n` asks for the same under another name: no station is near the edges, and the centre stays where it is. On the
 * grid, so that a publishable key gets it as it is.
 */
const area = (n: number): string =>
  `bbox=${(49.02 - n / 100).toFixed(2)},29,${(53 + n / 100).toFixed(2)},33.06`;
const asked = (n = 0) => [
  { path: `/stations?${area(n)}`, accept: "*/*" },
  { path: `/stations?${area(n)}&sort=distance`, accept: "*/*" },
  { path: `/stations?${area(n)}&sort=distance&q=1`, accept: "*/*" },
  { path: `/stations?${area(n)}&q=2`, accept: "application/geo+json" },
  { path: `/stations?${area(n)}&sort=distance`, accept: "application/geo+json" },
  { path: `/stations?${area(n)}`, accept: "application/geo+json" },
  { path: `/stations?${area(n)}&sort=distance`, accept: "application/x-ndjson" },
  { path: `/stations?lat=51&lon=31&radius_km=${60 - n / 1e6}`, accept: "application/x-ndjson" },
];
type Asked = ReturnType<typeof asked>[number];

describe("long answers", () => {
  const instance = useInstance({ LOG_LEVEL: "silent" });
  let key: string;
  let publishable: string;
  /** The right answer of each, made alone. */
  const right: string[] = [];

  const requestOf = ({ path, accept }: Asked, encoding: string): string =>
    [
      `GET /api/v1/partner${path} HTTP/1.1`,
      "Host: 127.0.0.1",
      `Authorization: Bearer ${key}`,
      `Accept: ${accept}`,
      `Accept-Encoding: ${encoding}`,
      "\r\n",
    ].join("\r\n");

  const askWith = async (by: string, { path, accept }: Asked, encoding: string) => {
    const answer = await fetch(edge.url + path, {
      headers: { Authorization: `Bearer ${by}`, Accept: accept, "Accept-Encoding": encoding },
    });
    expect(answer.status).to.equal(200);
    const cache = answer.headers.get("x-service-cache");
    return { cache, digest: digestOf(Buffer.from(await answer.arrayBuffer())) };
  };
  const ask = async (one: Asked, encoding: string): Promise<string> =>
    (await askWith(key, one, encoding)).digest;

  before(async () => {
    const { db } = instance;
    const partner = await addPartner(db, { rpm: 100_000, daily: 1_000_000 });
    key = await addKey(db, partner);
    publishable = await addKey(db, partner, "publishable");
    await writeStations(db, stations);
  });
  const edge = useEdgeOn(instance);
  before(async () => {
    const { model, clock } = edge.web.services;
    await until(
      () => Promise.resolve(model.whole(clock()).count),
      (count) => count === stations.length,
    );
    for (const one of asked()) right.push(await ask(one, "identity"));
    expect(new Set(right).size).to.equal(asked().length);
  });

  it("are the same when many are made and packed at once", async () => {
    const rounds = ["gzip", "gzip", "gzip", "identity", "gzip", "br", "gzip", "gzip"];
    for (let wave = 0; wave < sized(1, 2); wave++)
      await Promise.all(
        rounds.flatMap((encoding, round) =>
          asked(wave * rounds.length + round).map(async (one, i) =>
            expect(await ask(one, encoding)).to.equal(right[i]),
          ),
        ),
      );
  });

  it("are written once for the cache and for a caller who takes them unpacked, and both get them whole", async () => {
    // Points are for secret keys alone.
    const rectangles = (n: number) => [
      ...asked(n)
        .filter(({ path }) => path.includes("bbox"))
        .entries(),
    ];
    const rounds = Array.from({ length: sized(3, 6) }, (_, round) => 30 + round);
    await until(
      () => askWith(publishable, asked(29)[0]!, "identity"),
      ({ cache }) => cache === "hit",
    );
    const ways = ["identity", "gzip", "br"];
    for (const [time, expected] of [
      ["first", "miss"],
      ["again", "hit"],
    ] as const)
      await Promise.all(
        rounds.flatMap((n) =>
          rectangles(n).map(async ([i, one]) => {
            const encoding = ways[(n + (time === "again" ? 1 : 0)) % ways.length]!;
            const { cache, digest } = await askWith(publishable, one, encoding);
            expect([cache, digest]).to.deep.equal([expected, right[i]]);
          }),
        ),
      );
  });

  // For a caller of whole pages it is in test/api/long-pages.test.ts.
  itLong("stay as they are while a caller does not read them", async () => {
    // More than the operating system takes from the process, so that answers lie in its memory.
    const times = 40;
    const sockets = await Promise.all(asked().map(() => open(edge.port)));
    sockets.forEach((socket, i) => socket.write(requestOf(asked()[i]!, "identity").repeat(times)));
    await Promise.all(sockets.map(begun));
    // They write over every buffer that was given back.
    for (let n = 0; n < 5; n++)
      for (const [i, one] of asked().entries())
        expect(await ask(one, n % 2 === 0 ? "gzip" : "identity")).to.equal(right[i]);
    await Promise.all(
      sockets.map(async (socket, i) => {
        const bodies = await readAll(socket, times);
        expect(bodies.map(digestOf)).to.deep.equal(Array(times).fill(right[i]));
        socket.destroy();
      }),
    );
  });

  it("do no harm to others when a caller hangs up in the middle", async () => {
    for (let n = 0; n < 3; n++) {
      const sockets = await Promise.all(asked().map(() => open(edge.port)));
      sockets.forEach((socket, i) => socket.write(requestOf(asked()[i]!, "identity").repeat(10)));
      const others = asked().map(async (one, i) =>
        expect(await ask(one, "gzip")).to.equal(right[i]),
      );
      sockets.forEach((socket) => socket.destroy());
      await Promise.all(others);
    }
    for (const [i, one] of asked().entries()) expect(await ask(one, "gzip")).to.equal(right[i]);
  });
});

/** A connection that nobody reads yet. */
const open = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.on("error", reject);
    socket.pause();
  });

/** Waits for the first bytes, and reads no more. */
const begun = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      socket.unshift(chunk);
      resolve();
    });
    socket.resume();
  });

/** The bodies of so many answers that follow each other on a connection. */
function readAll(socket: Socket, times: number): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const bodies: Buffer[] = [];
    let rest = Buffer.alloc(0);
    socket.on("close", () => reject(new Error(`closed after ${bodies.length} answers`)));
    socket.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const headEnd = rest.indexOf("\r\n\r\n");
        if (headEnd < 0) return;
        const head = rest.subarray(0, headEnd).toString("latin1");
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
        const end = headEnd + 4 + length;
        if (rest.length < end) return;
        bodies.push(Buffer.from(rest.subarray(headEnd + 4, end)));
        rest = rest.subarray(end);
        if (bodies.length === times) return resolve(bodies);
      }
    });
    socket.resume();
  });
}
