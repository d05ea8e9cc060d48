import { expect } from "chai";
import { isValidElement, type VNode } from "preact";
import { Hour, Time } from "../../packages/web/src/shared/time.tsx";

/** Returns the text and the tooltip of a rendered time. */
function textOf(time: VNode): { text: string; title: string } {
  const { type, props } = time as VNode<Record<string, unknown>>;
  if (typeof type !== "function") throw new TypeError("This is not a component.");
  const element = (type as (props: Record<string, unknown>) => VNode)(props);
  if (!isValidElement(element)) throw new TypeError("The component made no element.");
  const { children, title } = element.props as { children?: unknown; title?: unknown };
  return { text: String(children), title: String(title) };
}

describe("times on the web pages", () => {
  const { now } = Date;
  const zone = process.env["TZ"];

  // Each format keeps the time zone of its first use.
  before(() => {
    process.env["TZ"] = "Europe/Berlin";
  });

  after(() => {
    Date.now = now;
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  });

  /** Returns the text for the hour that starts at `start`, if the current time is `present`. */
  function hourText(start: string, present: string): string {
    Date.now = () => Date.parse(present);
    return textOf(Hour({ ms: Date.parse(start) })).text;
  }

  describe("Hour", () => {
    it("shows today, yesterday or the date", () => {
      const start = "2026-05-04T12:00:00Z";
      expect(hourText(start, "2026-05-04T21:59:59Z")).to.equal("today, 14:00 to 15:00");
      expect(hourText(start, "2026-05-04T22:00:00Z")).to.equal("yesterday, 14:00 to 15:00");
      expect(hourText(start, "2026-05-05T22:00:00Z")).to.equal("May 4, 2026, 14:00 to 15:00");
    });

    it("shows yesterday after a day of 23 or 25 hours", () => {
      for (const [midnight, next] of [
        ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
        ["2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
      ] as const)
        expect(hourText(midnight, next)).to.equal("yesterday, 00:00 to 01:00");
    });
  });

  describe("Time", () => {
    it("shows the time zone in its tooltip", () => {
      const { text, title } = textOf(Time({ ms: Date.parse("2026-05-04T12:34:56Z") }));
      expect(text).to.equal("May 4, 2026, 14:34");
      expect(title).to.equal("Monday, May 4, 2026 at 14:34:56 GMT+2");
    });
  });
});
