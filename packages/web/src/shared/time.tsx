const DATE = { dateStyle: "medium" } as const;
const MINUTE = { ...DATE, timeStyle: "short", hourCycle: "h23" } as const;
const HOUR_MS = 60 * 60 * 1000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Makes each format once, at the format's first use, because making a format takes 10 ms. */
function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.DateTimeFormat("en", options);
  formats.set(key, format);
  return format;
}

/** Shows a time (milliseconds since 1970) in the visitor's time zone. The tooltip names the time zone. */
export function Time({ ms, precision = "minute" }: { ms: number; precision?: "minute" | "day" }) {
  return <Moment ms={ms} text={formatOf(precision === "day" ? DATE : MINUTE).format(ms)} />;
}

/** Shows the hour that begins at a time in milliseconds since 1970, as "today, 14:00 to 15:00". */
export function Hour({ ms }: { ms: number }) {
  const clock = formatOf({ timeStyle: "short", hourCycle: "h23" });
  return <Moment ms={ms} text={`${dayOf(ms)}, ${clock.format(ms)} to ${clock.format(ms + HOUR_MS)}`} />;
}

function Moment({ ms, text }: { ms: number; text: string }) {
  const title = formatOf({ dateStyle: "full", timeStyle: "long", hourCycle: "h23" }).format(ms);
  return (
    <time dateTime={new Date(ms).toISOString()} title={title}>
      {text}
    </time>
  );
}

function dayOf(ms: number): string {
  const [day, today] = [startOfDay(ms), startOfDay(Date.now())];
  if (day === today) return "today";
  // Use noon of the previous day. If the clocks change, a day has 23 or 25 hours.
  return day === startOfDay(today - 12 * HOUR_MS) ? "yesterday" : formatOf(DATE).format(ms);
}

function startOfDay(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0);
}
