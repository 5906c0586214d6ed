import { expect } from "chai";
import type { AlarmRow } from "#src/alarms/alarms.ts";
import { alarmMessage, testMessage } from "#src/alarms/message.ts";

const at = (time: string): Date => new Date(`2026-11-22T${time}Z`);
const alarm = (more: Partial<AlarmRow> = {}): AlarmRow => ({
  id: 12,
  kind: "marks-held",
  subject: "partner 7",
  city: "Тестоград",
  count: 1,
  details: {},
  raised_at: at("12:05:09"),
  last_at: at("12:05:09"),
  acknowledged_at: null,
  acknowledged_by: null,
  ...more,
});
const base = "https://fuel.example";

describe("alarms: their message", () => {
  it("says what happened, since when, where, and what to do", () => {
    const one = alarm({
      count: 14,
      last_at: at("12:40:00"),
      details: { harmful_changes: 34, limit: 20 },
    });
    const message = alarmMessage([one], base);
    expect(message.subject).to.equal("[Fuelmark] Marks are held for review: partner 7, Тестоград");
    expect(message.text).to.equal(`Fuelmark at https://fuel.example has an alarm.

12. Marks are held for review
  Since    2026-11-22 12:05:09 UTC (14 times, the last at 2026-11-22 12:40:00 UTC)
  About    partner 7
  City     Тестоград
  Figures  harmful changes 34, limit 20
  Meaning  One source made more harmful changes in this city than its limit. Its marks do not count until you approve them.
  Look at  npm run -s operator -- review list
           https://fuel.example/console/#/review
  Then     npm run -s operator -- alarm acknowledge 12

Open alarms: https://fuel.example/console/#/
An alarm stays open until you acknowledge it. It is told once.
`);
  });

  it("joins several, and says how many it leaves out", () => {
    for (const count of [49, 50, 51, 53]) {
      const many = Array.from({ length: count }, (_, n) =>
        alarm({
          id: n + 1,
          ...(n === 0 ? { kind: "station-stuck", subject: "station n7", city: "" } : {}),
        }),
      );
      const { id, subject, text } = alarmMessage(many, base);
      expect(id).to.equal(`alarms-1-${count}-${count}`);
      expect(subject).to.equal(
        `[Fuelmark] ${count} alarms: A station cannot be calculated, Marks are held for review`,
      );
      expect(text).to.contain(`has ${count} alarms.`).and.contain("\n1. A station");
      expect(text.match(/^\d+\. /gm)).to.have.length(Math.min(count, 50));
      expect(/(\d+) more: npm/.exec(text)?.[1] ?? "0").to.equal(String(Math.max(0, count - 50)));
    }
  });

  it("leaves out lines without content", () => {
    const { subject, text } = alarmMessage(
      [alarm({ kind: "station-stuck", subject: "station n7", city: "" })],
      base,
    );
    expect(subject).to.equal("[Fuelmark] A station cannot be calculated: station n7");
    expect(text).to.not.match(/City|Figures/);
  });

  it("does not let a name begin another line or header", () => {
    const evil = alarm({ city: "Тест\r\nBcc: all@fuel.example", details: { "a\nb": "c\u2028d" } });
    const { subject, text } = alarmMessage([evil], base);
    expect(subject).to.equal(
      "[Fuelmark] Marks are held for review: partner 7, Тест Bcc: all@fuel.example",
    );
    expect(text).to.not.match(/^(Bcc|b|d)/m);
  });

  it("is the same again for the same alarms, so that a receiver can tell", () => {
    expect(alarmMessage([alarm()], base).id).to.equal(alarmMessage([alarm()], base).id);
    expect(alarmMessage([alarm({ id: 13 })], base).id).to.not.equal(
      alarmMessage([alarm()], base).id,
    );
    expect(testMessage("test-1", base)).to.include({
      id: "test-1",
      subject: "[Fuelmark] Test of the alarms",
    });
  });
});
