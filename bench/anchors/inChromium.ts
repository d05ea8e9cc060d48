import { bundle } from "../../test/support/browser/bundle.ts";
import { openPage } from "../../test/support/browser/openPage.ts";
import { median, round, type Row } from "../runner/report.ts";
import type { ChainData } from "./work.ts";

const APP = `
import { blsWork, finalityWork, followAll, timesOf } from "./work.ts";

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
globalThis.measure = (bootstrap, updates, runs) => {
  const data = { bootstrap: bytes(bootstrap), updates: updates.map(bytes) };
  followAll(data);
  const { work } = finalityWork(data);
  return [() => followAll(data), work, blsWork()].map((one) => timesOf(runs, one));
};
`;

/** Measures the work of a light client in Chromium after a warm-up. */
export async function measureInChromium({ bootstrap, updates }: ChainData, runs: number): Promise<Row[]> {
  const page = await openPage(await bundle(APP, {}, import.meta.dirname), ["'none'"]);
  try {
    await page.reload();
    const texts = [bootstrap, ...updates].map((bytes) => Buffer.from(bytes).toString("base64"));
    const [first = "", ...others] = texts;
    const call = `measure(${JSON.stringify(first)}, ${JSON.stringify(others)}, ${runs})`;
    const times: number[][] = await page.evaluate(call);
    return [`${updates.length} periods of mainnet`, "one finality update", "one BLS verification alone"].map(
      (what, i) => ({
        ...{ what, ms: round(median(times[i] ?? [])) },
      }),
    );
  } finally {
    await page.close();
  }
}
