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
   * The column with the names of the lines, or of the bars within a category. Default: one line, or one bar per
   * category.
   */
  series?: string;
  /** The quantity that grows with x. The page states the exponent for each line. */
  growth?: string;
}

/** The minimum number of names in the first row of the legend. */
const FIRST_LINE = 4;
const SIZE = { width: 760, height: 420 };
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
/** Colors for light and dark pages. People with any kind of color vision can distinguish these colors (Okabe-Ito). */
const COLORS = {
  text: ["#1f2328", "#e6edf3"],
  grid: ["#d1d9e0", "#3d444d"],
  paper: ["#ffffff", "#0d1117"],
  series: [
    ["#0072b2", "#56b4e9"],
    ["#b34700", "#e69f00"],
    ["#00734c", "#00b880"],
    ["#a3457d", "#e58fc0"],
    ["#57606a", "#b1bac4"],
    ["#6b5c00", "#f0e442"],
  ],
} as const;

/** Draws a chart as SVG, whose colors follow the light or dark mode of the reader's system. */
export function drawChart({ title, kind, x, y, series, file }: Chart, { rows }: Figures): string {
  const names = seriesOf(rows, series);
  const categories = [...new Set(rows.map((row) => String(row[x.column])))];
  const valuesOf = (name: string) => {
    const own = rows.filter((row) => series === undefined || row[series] === name);
    if (kind === "lines") return own.map((row) => [row[x.column], row[y.column]]);
    return categories.map((category) => own.find((row) => String(row[x.column]) === category)?.[y.column] ?? null);
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
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, ...SIZE });
  chart.setOption({
    animation: false,
    backgroundColor: COLORS.paper[0],
    title: { text: title, left: 16, top: 10, textStyle: { color: text, fontFamily: FONT, fontSize: 16 } },
    legend: {
      show: names.length > 1,
      ...{ top: 40, left: 12, icon: "roundRect", itemHeight: 8, itemGap: 30 },
      textStyle: { color: text, fontFamily: FONT, fontSize: 13 },
    },
    grid: { left: 78, right: 28, top: names.length > FIRST_LINE ? 112 : names.length > 1 ? 88 : 56, bottom: 56 },
    xAxis:
      kind === "lines"
        ? { ...axis, type: "log", name: x.title, nameGap: 32, min: "dataMin", max: "dataMax" }
        : {
            ...{ ...axis, type: "category", name: x.title, nameGap: 32, data: categories, splitLine: { show: false } },
            axisLabel: { ...axis.axisLabel, interval: 0, width: 620 / categories.length, overflow: "break" },
          },
    yAxis: { ...axis, type: y.logarithmic === true ? "log" : "value", name: y.title, nameGap: 56 },
    series: names.map((name, i) => ({
      type: kind === "lines" ? "line" : "bar",
      name,
      data: valuesOf(name),
      symbolSize: 7,
      symbol: ["circle", "rect", "triangle", "diamond", "emptyCircle", "emptyRect"][i],
      lineStyle: { width: 2.5 },
      label: {
        show: kind === "bars",
        ...{ position: "top", color: text, fontFamily: FONT, fontSize: 12 },
        formatter: ({ value }: { value: number | string }) => labelOf(value),
      },
      itemStyle: { color: COLORS.series[i % COLORS.series.length]?.[0] },
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return finish(svg, title, file);
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
  const pairs = [COLORS.text, COLORS.grid, COLORS.paper, ...COLORS.series];
  const rules = pairs.map(([light, dark]) => `[fill="${light}"]{fill:${dark}}[stroke="${light}"]{stroke:${dark}}`);
  const style = `<style>@media (prefers-color-scheme: dark){${rules.join("")}}</style>`;
  const opening = /^<svg[^>]*>/.exec(svg)?.[0] ?? "";
  const named = opening.replace(">", ` role="img" aria-labelledby="${file}">`);
  // ECharts numbers its CSS classes across the whole process. The numbers are removed, so that the same chart has the
  // same text in every run.
  const body = svg.slice(opening.length).replaceAll(/zr\d+-/g, "");
  return `${named}<title id="${file}">${title}</title>${style}${body}\n`;
}
