import type { drawChart } from "./drawChart.ts";

let loading: Promise<typeof drawChart> | undefined;

/** Loads the code of the chart, once. @throws Error if it cannot be loaded, or differs from the pinned code */
export function loadChart(): Promise<typeof drawChart> {
  loading ??= load();
  // A failed load is tried again by the next call.
  loading.catch(() => (loading = undefined));
  return loading;
}

/**
 * Preloads the module with its hash, because the page's policy allows scripts by hash only and `import()` accepts none.
 * `import()` then uses the preloaded module (HTML standard, "modulepreload").
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
