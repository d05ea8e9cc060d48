import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { format, resolveConfig } from "prettier";
import { type Chart, drawChart, labelOf, seriesOf } from "./chart.ts";
import { goalOf, isMet } from "./goal.ts";
import { growthExponent, type Point } from "./growth.ts";
import { type Benchmark, BENCHMARKS } from "./registry.ts";
import type { Figures, Ratio, Row } from "./report.ts";
import { newestResults, type Result } from "./results.ts";
import { summaryRows } from "./summary.ts";

const ROOT = new URL("../../", import.meta.url);
/** The pages that contain generated parts. */
const PAGES = ["docs/benchmarks.md", "README.md"];
/** Matches a generated part with the comments around it, `<!-- bench: NAME -->` … `<!-- end of bench -->`. */
const PART = /(<!-- bench: (\S+) -->\n)[^]*?(<!-- end of bench -->)/g;
/** The generated parts that are not about one benchmark. */
const TABLES: Readonly<Record<string, (results: readonly Result[]) => readonly Row[]>> = {
  summary: summaryRows,
  missed: (results) => {
    const missed = results.flatMap(({ benchmark, ratios }) => ratios.map((ratio) => ({ benchmark, ratio })));
    return missed
      .filter(({ ratio }) => !isMet(ratio))
      .map(({ benchmark, ratio }) => ({
        ...{ Benchmark: `\`${benchmark}\``, Figure: ratio.what, Measured: ratio.value, Goal: goalOf(ratio) },
      }));
  },
};

/** Writes the generated parts of the pages, and the charts, from the newest results. */
export async function writePages(): Promise<void> {
  mkdirSync(new URL("docs/images/", ROOT), { recursive: true });
  for (const [path, text] of await renderPages()) writeFileSync(new URL(path, ROOT), text);
}

/** Renders the pages and charts from the newest results. The keys are the files' paths in the project. */
export async function renderPages(): Promise<Map<string, string>> {
  const { results, name } = newestResults();
  const texts = new Map<string, string>();
  for (const path of PAGES) {
    const page = readFileSync(new URL(path, ROOT), "utf8");
    const filled = page.replaceAll(PART, (_, start: string, part: string, end: string) => {
      const rows = TABLES[part]?.(results);
      const text = rows === undefined ? section(part, results, name) : table(rows);
      return `${start}\n${text}\n\n${end}`;
    });
    const options = await resolveConfig(new URL(path, ROOT));
    texts.set(path, await format(filled, { ...options, parser: "markdown" }));
  }
  for (const { name: benchmark, charts = [] } of BENCHMARKS) {
    const result = results.find((candidate) => candidate.benchmark === benchmark);
    for (const chart of charts) {
      const figures = result?.figures[chart.figures];
      if (figures !== undefined) texts.set(imageOf(chart), drawChart(chart, figures));
    }
  }
  return texts;
}

/**
 * Renders the section of the page about one benchmark: its machine, charts and tables, and the ratios that have a goal.
 */
function section(benchmark: string, results: readonly Result[], file: string): string {
  const known = BENCHMARKS.find(({ name }) => name === benchmark);
  if (known === undefined) throw new Error(`A page has a part for the benchmark "${benchmark}", which does not exist.`);
  const result = results.find((candidate) => candidate.benchmark === benchmark);
  if (result === undefined) return `Not measured yet: \`npm run bench -- ${benchmark} --record\`.`;
  const charts = (known.charts ?? []).flatMap((chart) => {
    const figures = result.figures[chart.figures];
    if (figures === undefined) return [];
    const image = `![${chart.title}](${imageOf(chart).replace("docs/", "")})`;
    return [image, ...growthOf(chart, figures)];
  });
  const all: Benchmark["tables"] = Object.fromEntries(Object.keys(result.figures).map((name) => [name, {}]));
  const details = Object.entries(known.tables ?? all).flatMap(([name, values]) => {
    const figures = result.figures[name];
    if (figures === undefined) return [];
    const rows = figures.rows.filter((row) =>
      Object.entries(values).every(([column, shown]) => shown.includes(row[column])),
    );
    return [`<details><summary>${figures.what}</summary>\n\n${table(rows)}\n\n</details>`];
  });
  return [whereOf(result, file), ratioTable(result.ratios), ...charts, ...details].filter(Boolean).join("\n\n");
}

function whereOf({ command, date, machine, seconds }: Result, file: string): string {
  return `Measured on ${date} with \`${command}\` in ${seconds} s: ${machine} ([all figures](../bench/results/${file})).`;
}

function ratioTable(ratios: readonly Ratio[]): string {
  const withGoal = ratios.map((ratio) => ({ "": ratio.what, Measured: ratio.value, Goal: goalOf(ratio) }));
  return table(withGoal.filter(({ Goal }) => Goal !== ""));
}

/** Says how much more Keyroot's lines show for ten times as many users. */
function growthOf({ growth, own, series, x, y }: Chart, { rows }: Figures): string[] {
  if (growth === undefined) return [];
  const factors = (own ?? seriesOf(rows, series)).flatMap((name) => {
    const points = rows
      .filter((row) => series === undefined || row[series] === name)
      .map((row): Point => [Number(row[x.column]), Number(row[y.column])]);
    const exponent = growthExponent(points);
    return exponent === undefined ? [] : [{ name, factor: (10 ** exponent).toPrecision(2) }];
  });
  const [first, ...others] = factors;
  if (first === undefined) return [];
  const subject = own === undefined ? `the ${growth}` : `${first.name}'s ${growth}`;
  const each = factors.map(({ name, factor }) => `${factor} for ${name}`);
  const by = others.length === 0 ? first.factor : each.join(" and ");
  return [`With ten times as many users, ${subject} grows by a factor of ${by}.`];
}

function table(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  if (columns.length === 0) return "";
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const cell = (value: Row[string] | undefined) =>
    typeof value === "number" ? labelOf(value) : String(value ?? "").replaceAll("|", "\\|");
  const isNumber = (column: string) => rows.every((row) => typeof row[column] === "number");
  return [
    line(columns),
    line(columns.map((column) => (isNumber(column) ? "--:" : "---"))),
    ...rows.map((row) => line(columns.map((column) => cell(row[column])))),
  ].join("\n");
}

function imageOf({ file }: Chart): string {
  return `docs/images/${file}.svg`;
}
