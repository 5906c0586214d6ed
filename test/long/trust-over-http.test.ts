import { expect } from "chai";
import { distanceM } from "#src/domain/geo.ts";
import { createRandom } from "#demo/country/random.ts";
import { rows } from "#src/infrastructure/db.ts";
import { deviceReporter, msOf, partnerReporter } from "#src/marks/marks.ts";
import { view } from "#src/domain/view.ts";
import { detailBots } from "#bench/trust/attackers/details.ts";
import { fifthFalse } from "#bench/trust/attackers/fifth.ts";
import { createProduct } from "#bench/trust/product.ts";
import { type Reporter, type SentMark, together } from "#bench/trust/traffic.ts";
import { makeWorld } from "#bench/trust/world.ts";
import { type Answer, type Client, createClient } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { startRole } from "#test/harness/roles.ts";

const stations = 12;
/** The product's clock, hours ahead of the real one, and how many marks are sent then, one behind the other. */
const phases = [
  { aheadH: 0, marks: 50 },
  { aheadH: 3, marks: 50 },
  { aheadH: 30, marks: 50 },
];

describe("bench trust: a slice of its traffic over HTTP", function () {
  const { instance, country } = useStage(stations, [], { TRUSTED_PROXIES: "127.0.0.1" });

  it("gets the same verdicts and ends in the same states as in the simulation", async () => {
    const { traffic, place } = slice();
    const { config } = instance;
    for (const { reporter } of traffic.known) await meet(reporter);
    // The simulation gets the times that the running product saw.
    const known = await Promise.all(
      traffic.known.map(async ({ reporter }) => ({
        reporter,
        firstSeen: await firstSeenOf(reporter),
      })),
    );
    const simulated = createProduct(place, config, known);
    const sizes = phases.map((phase) => phase.marks);
    const kinds: Record<string, number> = {
      accepted: 0,
      duplicate: 0,
      refused: 0,
      map: 0,
      false: 0,
    };
    for (const [phase, { aheadH, marks }] of phases.entries()) {
      const offset = { CLOCK_OFFSET_S: String(aheadH * 3600) };
      const roles = await Promise.all(
        ["web", "marks"].map((role) => startRole(role, { ...instance.env, ...offset })),
      );
      const baseUrl = roles[0]!.baseUrl;
      const partner = createClient(baseUrl, country.secret);
      const map = createClient(baseUrl, country.publishable);
      const begin = sizes.slice(0, phase).reduce((sum, count) => sum + count, 0);
      for (const mark of traffic.marks.slice(begin, begin + marks)) {
        const answer = await send(mark.reporter.viewer === null ? partner : map, mark);
        const at = await receivedAt(answer, aheadH);
        const admission = simulated.send({ ...mark, at });
        kinds[admission.kind]! += 1;
        if (mark.reporter.viewer !== null) kinds["map"]! += 1;
        if (!mark.honest) kinds["false"]! += 1;
        const what = JSON.stringify({ mark, answer: answer.body, admission });
        if (admission.kind === "refused")
          expect(codeOf(answer), what).to.equal(admission.problem.code);
        else expect(answer.body.duplicate, what).to.equal(admission.kind === "duplicate");
        if (admission.kind !== "accepted") continue;
        expect(answer.body.remote, what).to.equal(admission.remote);
        const { published } = answer.body;
        expect([published.needed, published.rule], what).to.deep.equal([
          admission.needed,
          admission.rule,
        ]);
        expect(published.outcome === "held", what).to.equal(admission.review === "held");
      }
      for (let station = 0; station < stations; station += 1) {
        const now = Date.now() + aheadH * 3600_000;
        const { body } = await partner.get(`/stations/${placeOf(station).id}`);
        const shown = view(simulated.stateOf(station), now, config.statusLifetimeMs);
        expect(body.station.fuel).to.deep.equal(JSON.parse(JSON.stringify(shown)));
      }
      await Promise.all(roles.map((role) => role.stop()));
    }
    expect(kinds["accepted"]).to.be.above(100);
    for (const kind of ["duplicate", "refused", "map", "false"])
      expect(kinds[kind], kind).to.be.above(4);
  });

  /** Honest marks, false ones and spoilt details of the bench's first day, at the test country's stations. */
  function slice() {
    const world = makeWorld(11, "usual", { stations, hours: 30 });
    const { from } = world.scene;
    const scene = { ...world.scene, random: world.attackRandom(), attackAt: from + 1000 };
    const places = world.scene.country.stations.map((one, index) => ({
      ...one,
      ...placeOf(index),
    }));
    const whole = together(
      world.honest,
      fifthFalse(scene, { status: "no", old: true, positions: true }).traffic,
      detailBots(scene, { positions: false, lasts: 1000 }, 10).traffic,
    );
    const total = phases.reduce((sum, { marks }) => sum + marks, 0);
    const random = createRandom(12);
    const first = whole.marks.findIndex(({ honest }) => !honest);
    const marks = whole.marks.slice(Math.max(0, first - 60)).slice(0, total);
    const senders = new Set(marks.map(({ reporter }) => reporter.name));
    // One partner is enough; positions are moved along with their stations.
    const here = marks.map((mark): SentMark => {
      const { lat, lon } = places[mark.station]!;
      const near = { lat: lat + random.between(0, 0.001), lon, accM: 20 };
      return {
        ...mark,
        reporter: mapped(mark.reporter),
        position: mark.position === null ? null : near,
      };
    });
    const known = whole.known
      .filter(({ reporter }) => senders.has(reporter.name))
      .map((one) => ({ ...one, reporter: mapped(one.reporter) }));
    // Now and then a retry, and a change of mind within the cooldown.
    const again = here.flatMap((mark, n): SentMark[] =>
      n % 10 === 9
        ? [mark, mark, { ...mark, status: mark.status === "no" ? "yes" : "no" }]
        : [mark],
    );
    const within = (station: number, radiusM: number): string[] =>
      places.filter((one) => distanceM(one, places[station]!) <= radiusM).map(({ id }) => id);
    return {
      traffic: { marks: again, known },
      place: { ...world.scene.country, stations: places, within },
    };
  }

  const mapped = (reporter: Reporter): Reporter =>
    reporter.viewer === null
      ? { ...reporter, partnerId: country.partnerId, keyId: country.keyId }
      : reporter;

  const hashOf = ({ viewer, name }: Reporter): string => {
    const { reporterPepper } = instance.config;
    return viewer === null
      ? partnerReporter(reporterPepper, country.partnerId, name)
      : deviceReporter(reporterPepper, name);
  };

  const networks = new Map<string, number>();
  const addressOf = (viewer: string): string => {
    const number = networks.get(viewer) ?? networks.size + 1;
    networks.set(viewer, number);
    return `10.1.${number >> 8}.${number & 255}`;
  };

  const meet = (reporter: Reporter) =>
    rows(
      country.db,
      `insert into reporters (hash, partner_id, first_seen) values (decode(?, 'hex'), ?,
         server_now() - interval '3 days' - (select count(*) from reporters) * interval '7 minutes')`,
      [hashOf(reporter), reporter.partnerId],
    );

  async function firstSeenOf(reporter: Reporter): Promise<number> {
    const sql = `select ${msOf("first_seen")} as seen from reporters where hash = decode(?, 'hex')`;
    const [row] = await rows<{ seen: number }>(country.db, sql, [hashOf(reporter)]);
    return row!.seen;
  }

  /** When the product received a mark; of a refused one, nearly. */
  async function receivedAt(answer: Answer, aheadH: number): Promise<number> {
    if (answer.status !== 200) return Date.now() + aheadH * 3600_000;
    const sql = `select ${msOf("received_at")} as at from marks where id = ?`;
    const [row] = await rows<{ at: number }>(country.db, sql, [Number(answer.body.report_id)]);
    return answer.body.duplicate ? Date.now() + aheadH * 3600_000 : row!.at;
  }

  const codeOf = ({ body }: Answer): string => String(body.type).split("/").at(-1)!;

  function send(client: Client, mark: SentMark): Promise<Answer> {
    const { status, fuels, fuelsNo, prices, limitL, noCash, fuelCardsOnly, reporter } = mark;
    const said = {
      status,
      fuels,
      fuels_no: fuelsNo,
      prices,
      limit_l: limitL,
      no_cash: noCash,
      fuel_cards_only: fuelCardsOnly,
      lat: mark.position?.lat,
      lon: mark.position?.lon,
      acc_m: mark.position?.accM,
    };
    const { id } = placeOf(mark.station);
    return reporter.viewer === null
      ? client.post(`/stations/${id}/report`, { user_ref: reporter.name, ...said })
      : client.post(
          `/widget/stations/${id}/report`,
          { device: reporter.name, ...said },
          { "X-Forwarded-For": addressOf(reporter.viewer) },
        );
  }
});
