import uPlot from "uplot";

/**
 * The numbers in the chart, with one entry per day in each list. `users` is the total number of users at the end of the
 * day.
 */
export interface ChartData {
  /** The start of each day, in seconds since 1970. */
  days: number[];
  users: number[];
  /** The total cost at the end of each day, in ETH. */
  cost: number[];
}

const HEIGHT = 260;
const DATE = { month: "short", day: "numeric", timeZone: "UTC" } as const;
/** Steps of the user axis: 1, 2, 5, 10, and so on. The axis shows only whole numbers. */
const WHOLE_STEPS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
/**
 * The upper end of each axis, relative to the highest value. The ends differ, so that lines of similar shape do not
 * overlap.
 */
const ROOM = { users: 1.1, cost: 1.35 };

/**
 * Draws the total number of users and the total cost over time. The chart fills the width of `parent`.
 * @param colorOf returns the color of a part of the chart
 * @returns a function that removes the chart
 */
export function drawChart(
  parent: HTMLElement,
  { days, users, cost }: ChartData,
  colorOf: (part: "users" | "cost" | "grid" | "text") => string,
): () => void {
  const grid = { stroke: colorOf("grid"), width: 1 };
  const axis = { stroke: colorOf("text"), grid, ticks: grid };
  const line = (part: "users" | "cost") => ({
    ...{ scale: part, stroke: colorOf(part), width: 2 },
    // A total does not change until the next day with a batch.
    ...(uPlot.paths.stepped && { paths: uPlot.paths.stepped({ align: 1 }) }),
    points: { show: true, size: 6 },
  });
  const chart = new uPlot(
    {
      width: parent.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
      scales: { x: { time: true }, users: { range: rangeOf(ROOM.users) }, cost: { range: rangeOf(ROOM.cost) } },
      axes: [
        { ...axis, values: labels((seconds) => new Date(seconds * 1000).toLocaleDateString("en", DATE)) },
        {
          ...axis,
          scale: "users",
          size: 56,
          incrs: WHOLE_STEPS,
          values: labels((count) => count.toLocaleString("en")),
        },
        {
          // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- uPlot's enum has no values at run time
          side: 1,
          ...{ ...axis, scale: "cost", size: 84, grid: { show: false } },
          values: labels((eth) => eth.toLocaleString("en", { maximumSignificantDigits: 4 })),
        },
      ],
      series: [{}, line("users"), { ...line("cost"), dash: [6, 4] }],
    },
    [days, users, cost],
    parent,
  );
  const observer = new ResizeObserver(() => {
    if (parent.clientWidth > 0) chart.setSize({ width: parent.clientWidth, height: HEIGHT });
  });
  observer.observe(parent);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}

function rangeOf(room: number) {
  return (_chart: uPlot, _min: number, max: number): [number, number] => [0, max > 0 ? max * room : 1];
}

function labels(format: (value: number) => string) {
  return (_chart: uPlot, values: number[]): string[] => values.map(format);
}
