import { useEffect, useRef, useState } from "preact/hooks";
import { formatCost, formatCount } from "../../shared/format.ts";
import { useMedia } from "../../shared/useMedia.ts";
import type { PublishedDay } from "../shared/api.ts";
import { loadChart } from "./loadChart.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Users and cost over time, as a chart and as a table. */
export function PublishingChart({ days }: { days: readonly PublishedDay[] }) {
  const rows = totalsOf(days);
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-users">Users with a published key</span> and{" "}
        <span class="chart-cost">your share of the cost in ETH</span>, in total at the end of each day (UTC)
      </figcaption>
      <Drawing rows={rows} />
      <details>
        <summary>Show as a table</summary>
        <DaysTable days={days} />
      </details>
    </figure>
  );
}

/** A table of the users and cost of each day, and in total. */
export function DaysTable({ days }: { days: readonly PublishedDay[] }) {
  const rows = totalsOf(days);
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Users and cost by day">
      <table>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">Users</th>
            <th scope="col">Cost</th>
            <th scope="col">Users in total</th>
            <th scope="col">Cost in total</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ day, users, cost, allUsers, wholeCost }) => (
            <tr key={day}>
              <td>{new Date(day).toISOString().slice(0, 10)}</td>
              <td>{formatCount(users)}</td>
              <td>{formatCost(cost)}</td>
              <td>{formatCount(allUsers)}</td>
              <td>{formatCost(wholeCost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Totals {
  day: number;
  users: number;
  cost: bigint;
  allUsers: number;
  wholeCost: bigint;
}

function totalsOf(days: readonly PublishedDay[]): Totals[] {
  let allUsers = 0;
  let wholeCost = 0n;
  return days.map(({ day, users, cost }) => {
    allUsers += users;
    wholeCost += BigInt(cost);
    return { day, users, cost: BigInt(cost), allUsers, wholeCost };
  });
}

/**
 * Draws the chart, and loads its code on demand. If loading fails, nothing is lost, because the page also shows the
 * numbers in a table.
 */
function Drawing({ rows }: { rows: readonly Totals[] }) {
  const parent = useRef<HTMLDivElement>(null);
  const isDark = useMedia("(prefers-color-scheme: dark)");
  const [isMissing, setMissing] = useState(false);
  const key = JSON.stringify(rows.map(({ day, allUsers, wholeCost }) => [day, allUsers, String(wholeCost)]));
  useEffect(() => {
    let remove: (() => void) | undefined;
    let isOver = false;
    loadChart().then(
      (drawChart) => {
        const { current: element } = parent;
        if (isOver || element === null) return;
        // The line begins at zero, one day before the first publication.
        const start = { day: (rows[0]?.day ?? 0) - DAY_MS, allUsers: 0, wholeCost: 0n };
        const points = [start, ...rows];
        const data = {
          days: points.map(({ day }) => day / 1000),
          users: points.map(({ allUsers }) => allUsers),
          cost: points.map(({ wholeCost }) => Number(wholeCost) / 1e18),
        };
        remove = drawChart(element, data, (part) => colorOf(element, part));
      },
      () => {
        if (!isOver) setMissing(true);
      },
    );
    return () => {
      isOver = true;
      remove?.();
    };
  }, [key, isDark]);
  if (isMissing) return <p class="detail">The chart did not load. The table shows the same numbers.</p>;
  const last = rows.at(-1);
  const label = `A chart: ${formatCount(last?.allUsers ?? 0)} users in total, ${formatCost(last?.wholeCost ?? 0n)} in total. The table below has all numbers.`;
  return <div ref={parent} class="chart-drawing" role="img" aria-label={label} />;
}

/** Returns the color of an element with the part's class, because a canvas cannot use CSS variables. */
function colorOf(element: HTMLElement, part: string): string {
  const sample = document.createElement("span");
  sample.className = `chart-${part}`;
  element.append(sample);
  const { color } = getComputedStyle(sample);
  sample.remove();
  return color;
}
