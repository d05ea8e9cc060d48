import { buildPage } from "./buildPage.ts";
import { buildScript } from "./buildScript.ts";

/** Builds the dashboard: files by their paths relative to its page. The code of the chart is loaded on demand. */
export async function buildDashboard(): Promise<Map<string, string | Uint8Array>> {
  const licenses = new Set<string>();
  const { code, ...chart } = await buildScript("dashboard", "publishing/drawChart.ts", licenses);
  const page = await buildPage("dashboard", { CHART: JSON.stringify(chart) }, licenses);
  // The page is last, so that everything it loads exists.
  return new Map([[chart.url, code], ...page]);
}
