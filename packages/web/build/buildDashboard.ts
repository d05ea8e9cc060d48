import { buildPage } from "./buildPage.ts";
import { buildScript } from "./buildScript.ts";

/** Builds the dashboard. Returns files by their paths relative to the page. The chart's code is loaded on demand. */
export async function buildDashboard(): Promise<Map<string, string | Uint8Array>> {
  const licenses = new Set<string>();
  const { code, ...chart } = await buildScript("dashboard", "publishing/drawChart.ts", licenses);
  const page = await buildPage("dashboard", { CHART: JSON.stringify(chart) }, licenses);
  // The page comes last, so that all files that it loads are written first.
  return new Map([[chart.url, code], ...page]);
}
