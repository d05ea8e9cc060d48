import { BarChart as Bars, LineChart as Lines } from "echarts/charts";
import { AriaComponent, GridComponent, LegendComponent, TitleComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { Figures, Row } from "./report.ts";

echarts.use([Bars, Lines, AriaComponent, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

/** The columns of a table that a chart shows, and the names of the columns. */
export interface Chart {
  /** The name of the SVG file in docs/images, without `.svg`. */
  file: string;
  title: string;
  /** The name of the table of figures. */
  figures: string;
  /** The kind of the chart. Lines have numbers on a logarithmic x axis, and bars have categories. */
  kind: "lines" | "bars";
  x: { column: string; title: string };
  y: { column: string; title: string; logarithmic?: boolean };
  /**
   * The column with the names of the lines, or of the bars within a category. Default: a chart with a single line, or
   * with a single horizontal bar per category.
   */
  series?: string;
  /** The names of Keyroot's own lines or bars, which have colors. The others are gray. Default: all are Keyroot's. */
  own?: readonly string[];
  /** The quantity whose growth with x the page describes, for at most two of Keyroot's own lines. */
  growth?: string;
}

/** The minimum number of names in the first row of the legend. */
const FIRST_LINE = 4;
const SIZE = { width: 760, height: 420 };
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
/** Colors for light and dark pages. People with any kind of color vision can distinguish those of `own`. */
const COLORS = {
  text: ["#191c27", "#e9ebf3"],
  grid: ["#dfe3ee", "#2c3242"],
  paper: ["#ffffff", "#171a23"],
  own: [
    ["#3d4bd0", "#a1aaff"],
    ["#b34700", "#e69f00"],
    ["#00734c", "#00b880"],
    ["#a3457d", "#e58fc0"],
  ],
  others: [
    ["#575d70", "#a4abbf"],
    ["#8a91a6", "#717a92"],
  ],
} as const;
const SYMBOLS = ["circle", "rect", "triangle", "diamond", "emptyCircle", "emptyRect"];
const DASHES = ["solid", [6, 4], [2, 3], [10, 3, 2, 3]] as const;

/** Draws a chart as SVG, whose colors follow the light or dark mode of the reader's system. */
export function drawChart(chart: Chart, { rows }: Figures): string {
  const { title, kind, x, y, series, file } = chart;
  const names = seriesOf(rows, series);
  const categories = [...new Set(rows.map((row) => String(row[x.column])))];
  const isHorizontal = kind === "bars" && series === undefined;
  const styles = stylesOf(chart, isHorizontal ? categories : names);
  const valuesOf = (name: string) => {
    const own = rows.filter((row) => series === undefined || row[series] === name);
    if (kind === "lines") return own.map((row) => [row[x.column], row[y.column]]);
    return categories.map((category) => ({
      value: own.find((row) => String(row[x.column]) === category)?.[y.column] ?? null,
      ...(isHorizontal && { itemStyle: { color: styles.get(category)?.color } }),
    }));
  };
  const [text] = COLORS.text;
  const [grid] = COLORS.grid;
  const axis = {
    nameLocation: "middle" as const,
    nameTextStyle: { color: text, fontFamily: FONT, fontSize: 13 },
    axisLabel: { color: text, fontFamily: FONT, fontSize: 12, formatter: (value: number | string) => labelOf(value) },
    axisLine: { show: true, lineStyle: { color: text } },
    axisTick: { lineStyle: { color: text } },
    splitLine: { lineStyle: { color: grid } },
  };
  const values = { ...axis, type: y.logarithmic === true ? ("log" as const) : ("value" as const), name: y.title };
  const bars = {
    ...{ ...axis, type: "category" as const, name: x.title, nameGap: 32, data: categories },
    ...{ splitLine: { show: false }, inverse: isHorizontal },
    axisLabel: { ...axis.axisLabel, interval: 0, width: isHorizontal ? 150 : 180, overflow: "break" as const },
  };
  const least = Math.min(...rows.map((row) => Number(row[x.column])));
  const numbers = {
    ...{ ...axis, type: "log" as const, name: x.title, nameGap: 32, min: "dataMin", max: "dataMax" },
    axisLabel: { ...axis.axisLabel, showMinLabel: !isNearPowerOfTen(least) },
  };
  const drawing = echarts.init(null, null, { renderer: "svg", ssr: true, ...SIZE });
  drawing.setOption({
    animation: false,
    backgroundColor: COLORS.paper[0],
    title: { text: title, left: 16, top: 10, textStyle: { color: text, fontFamily: FONT, fontSize: 16 } },
    legend: {
      show: names.length > 1,
      ...{ top: 40, left: 12, itemWidth: 34, itemHeight: 9, itemGap: 24 },
      textStyle: { color: text, fontFamily: FONT, fontSize: 13 },
    },
    grid: {
      ...{ left: isHorizontal ? 172 : 78, right: 44, bottom: 56 },
      top: names.length > FIRST_LINE ? 112 : names.length > 1 ? 88 : 56,
    },
    xAxis: isHorizontal ? { ...values, nameGap: 32 } : kind === "bars" ? bars : numbers,
    yAxis: isHorizontal ? bars : { ...values, nameGap: 56 },
    series: names.map((name, i) => ({
      type: kind === "lines" ? "line" : "bar",
      name,
      data: valuesOf(name),
      symbolSize: 7,
      symbol: SYMBOLS[i],
      lineStyle: styles.get(name)?.line,
      label: {
        show: kind === "bars",
        ...{ position: isHorizontal ? "right" : "top", color: text, fontFamily: FONT, fontSize: 12 },
        formatter: ({ value }: { value: number | string }) => labelOf(value),
      },
      itemStyle: { color: styles.get(name)?.color },
    })),
  });
  const svg = drawing.renderToSVGString();
  drawing.dispose();
  return finish(svg, title, file);
}

/** Whether a number is more than half of the next power of ten, so that the labels of both would overlap. */
function isNearPowerOfTen(value: number): boolean {
  const power = 10 ** Math.ceil(Math.log10(value));
  return value < power && value * 2 > power;
}

/** Returns the styles of lines or bars. Keyroot's are colored and thick, whereas all others are gray and dashed. */
function stylesOf({ own, series }: Chart, names: readonly string[]) {
  const isOwn = (name: string) => own === undefined || own.includes(name);
  const others = names.filter((name) => !isOwn(name));
  const ours = names.filter(isOwn);
  return new Map(
    names.map((name) => {
      // Bars without a series have their names beside them.
      const i = series === undefined ? 0 : (isOwn(name) ? ours : others).indexOf(name);
      const colors = isOwn(name) ? COLORS.own : COLORS.others;
      const line = isOwn(name) ? { width: 3.5 } : { width: 1.5, type: DASHES[i % DASHES.length] };
      return [name, { color: colors[i % colors.length]?.[0], line }] as const;
    }),
  );
}

/** Returns the names of the lines, or of the bars in each category, in the order of the rows. */
export function seriesOf(rows: readonly Row[], column: string | undefined): string[] {
  return column === undefined ? [""] : [...new Set(rows.map((row) => String(row[column])))];
}

/** Formats a number with commas, such as 1,000,000. */
export function labelOf(value: number | string): string {
  return typeof value === "number" ? value.toLocaleString("en", { maximumSignificantDigits: 9 }) : value;
}

/** Adds the title for screen readers, and the colors for dark pages. */
function finish(svg: string, title: string, file: string): string {
  const pairs = [COLORS.text, COLORS.grid, COLORS.paper, ...COLORS.own, ...COLORS.others];
  const rules = pairs.map(([light, dark]) => `[fill="${light}"]{fill:${dark}}[stroke="${light}"]{stroke:${dark}}`);
  const style = `<style>@media (prefers-color-scheme: dark){${rules.join("")}}</style>`;
  const opening = /^<svg[^>]*>/.exec(svg)?.[0] ?? "";
  const named = opening.replace(">", ` role="img" aria-labelledby="${file}">`);
  // ECharts numbers its CSS classes across the whole process. Remove the numbers, so that the same data always gives
  // the same SVG.
  const body = svg.slice(opening.length).replaceAll(/zr\d+-/g, "");
  return `${named}<title id="${file}">${title}</title>${style}${body}\n`;
}
