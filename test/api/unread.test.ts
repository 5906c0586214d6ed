import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { addKey, addPartner, useEdgeOn } from "#test/api/edge.ts";
import { readExposition } from "#test/api/exposition.ts";
import { writeStations } from "#test/api/reads-country.ts";
import { until } from "#test/flow/client.ts";
import { useInstance } from "#test/harness/use.ts";

describe("api: answers that nobody reads", () => {
  const unreadBytes = 40_000_000;
  const instance = useInstance({ LOG_LEVEL: "silent", UNREAD_BYTES: String(unreadBytes) });
  let key: string;
  const sockets: Socket[] = [];

  before(async () => {
    const { db } = instance;
    key = await addKey(db, await addPartner(db, { rpm: 100_000, daily: 1_000_000 }));
    const stations = Array.from({ length: 4000 }, (_, n) => ({
      id: `n${n}`,
      ...{ lat: 50 + (n % 40) / 20, lon: 30 + Math.floor(n / 40) / 50, name: `Station ${n}` },
      // A list is longer than what the system keeps for a connection.
      addr: "Long street ".repeat(200),
    }));
    await writeStations(db, stations);
  });
  const patient = useEdgeOn(instance);
  const hasty = useEdgeOn(instance, { times: { stuckMs: 1500 } });
  after(() => sockets.forEach((socket) => socket.destroy()));

  /** Asks for a list and reads nothing. */
  const askAndLeave = (port: number, n: number): Socket => {
    const socket = connect(port, "127.0.0.1");
    socket.pause();
    sockets.push(socket);
    socket.on("error", () => {});
    socket.write(
      `GET /api/v1/partner/stations.geojson?bbox=${49 - n / 100},29,53,33 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    return socket;
  };
  const figure = async (origin: string, name: string): Promise<number> => {
    const samples = readExposition(await (await fetch(`${origin}/metrics`)).text());
    return samples.get(name) ?? 0;
  };

  it("ends a connection whose caller takes nothing, and not one that is waited on or that reads", async () => {
    const stuck = askAndLeave(hasty.port, 1);
    const headers = { Authorization: `Bearer ${key}` };
    const stream = await fetch(`${hasty.url}/stations/stream`, { headers });
    const reader = stream.body!.getReader();
    let isOver = false;
    // It begins with the stations that were written a moment ago, which is more than the system keeps.
    const reading = (async () => {
      while (!isOver) isOver = (await reader.read()).done;
    })();
    await until(
      () => figure(hasty.origin, 'fuelmark_unread_ended_total{reason="stuck"}'),
      (count) => count === 1,
    );
    stuck.resume();
    await once(stuck, "close");
    expect(isOver).to.equal(false);
    await reader.cancel();
    await reading;
    await until(
      () => figure(hasty.origin, "fuelmark_unread_bytes"),
      (bytes) => bytes === 0,
    );
  });

  it("forgets callers that have left while their answers were packed", async () => {
    for (let n = 0; n < 4; n++) {
      const socket = connect(hasty.port, "127.0.0.1");
      sockets.push(socket);
      const request = `GET /api/v1/partner/stations.geojson?bbox=${48 - n / 100},29,53,33 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nAccept-Encoding: br\r\n\r\n`;
      socket.on("error", () => {});
      socket.write(request, () => setTimeout(() => socket.resetAndDestroy(), 20));
    }
    const headers = { Authorization: `Bearer ${key}`, "Accept-Encoding": "br" };
    // Its answer comes behind theirs.
    const last = await fetch(`${hasty.url}/stations.geojson?bbox=47,29,53,33`, { headers });
    await last.arrayBuffer();
    await until(
      () => figure(hasty.origin, "fuelmark_unread_answers"),
      (count) => count === 0,
      10_000,
    );
  });

  it("forgets a caller that has asked for several answers at once, and left", async () => {
    const head = (path: string): string =>
      `GET /api/v1/partner${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const list = head("/stations.geojson?bbox=46,29,53,33");
    for (const paths of [list.repeat(5), list + head("/stations/stream").repeat(2)]) {
      const socket = connect(hasty.port, "127.0.0.1").on("error", () => {});
      socket.pause().write(paths);
      await until(
        () => figure(hasty.origin, "fuelmark_unread_answers"),
        (count) => count > 0,
      );
      socket.destroy();
      await until(
        async () =>
          (await figure(hasty.origin, "fuelmark_unread_answers")) +
          (await figure(hasty.origin, "fuelmark_streams")),
        (count) => count === 0,
        10_000,
      );
    }
  });

  it("bounds what waits: it refuses further long answers, ends the oldest, and answers short ones all the while", async () => {
    const headers = { Authorization: `Bearer ${key}` };
    const ask = () => fetch(`${patient.url}/stations.geojson?bbox=48,28,54,34`, { headers });
    // On a busy machine the first of them may be old, and end, before the last one waits.
    const askBehindOthers = (): Promise<Response> => {
      for (let n = 0; n < 12; n++) askAndLeave(patient.port, n);
      return ask();
    };
    const refused = await until(askBehindOthers, ({ status }) => status === 503);
    expect(refused.headers.get("retry-after")).to.equal("5");
    expect(((await refused.json()) as { type: string }).type).to.include("upstream-unavailable");
    expect((await fetch(`${patient.url}/stations/n1`, { headers })).status).to.equal(200);
    expect(await figure(patient.origin, "fuelmark_unread_bytes")).to.be.lessThan(2 * unreadBytes);
    const answered = await until(ask, ({ status }) => status === 200);
    expect(((await answered.json()) as { count: number }).count).to.equal(4000);
    expect(await figure(patient.origin, 'fuelmark_unread_ended_total{reason="full"}')).to.be.above(
      0,
    );
  });
});
