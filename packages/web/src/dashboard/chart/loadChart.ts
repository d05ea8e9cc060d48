import type { drawChart } from "./drawChart.ts";

let loading: Promise<typeof drawChart> | undefined;

/** Loads the code of the chart when it is first needed. @throws Error if it cannot be loaded, or is not the pinned code */
export function loadChart(): Promise<typeof drawChart> {
  loading ??= load();
  // A failed load is tried again by the next call.
  loading.catch(() => (loading = undefined));
  return loading;
}

/**
 * The page's policy allows scripts by their hash only. An import cannot have a hash, but a preloaded module has one, and the
 * import then takes the module that was preloaded (HTML standard, "modulepreload").
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
