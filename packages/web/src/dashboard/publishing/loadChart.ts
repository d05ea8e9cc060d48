import type { drawChart } from "./drawChart.ts";

let loading: Promise<typeof drawChart> | undefined;

/** Loads the chart's code once. @throws Error if the code cannot be loaded, or the code's hash is wrong */
export function loadChart(): Promise<typeof drawChart> {
  loading ??= load();
  // After a failure, the next call loads the code again.
  loading.catch(() => (loading = undefined));
  return loading;
}

/**
 * Loads the chart's module. The page's policy allows scripts only by their hash, but `import()` cannot state a hash.
 * Therefore the module is first preloaded with its hash (HTML standard, "modulepreload").
 */
async function load(): Promise<typeof drawChart> {
  const url = new URL(CHART.url, document.baseURI).href;
  await new Promise<void>((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.integrity = CHART.integrity;
    link.href = url;
    link.onload = () => {
      resolve();
    };
    link.onerror = () => {
      link.remove();
      reject(new Error("The chart did not load."));
    };
    document.head.append(link);
  });
  const module = (await import(/* @vite-ignore */ url)) as { drawChart: typeof drawChart };
  return module.drawChart;
}
