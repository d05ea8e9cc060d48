import type { Chain } from "./chain.ts";

/** The range of base fees in blocks at equal intervals, in wei per unit of gas. */
export interface BaseFeeRange {
  /** The number of blocks that were read and have a base fee. */
  blocks: number;
  /** The times of the first and the last block, in ms since 1970. */
  from: number;
  to: number;
  lowest: bigint;
  median: bigint;
  highest: bigint;
}

const YEAR_SECONDS = 365 * 24 * 60 * 60;
/** The number of blocks to read from the last year, about one per week. */
const SAMPLES = 53;
/** The number of blocks over which the mean block time is measured. */
const INTERVAL_BLOCKS = 1_000;

/**
 * Reads base fees of the last year, or since the first block of a younger chain. Every full node has the headers of old
 * blocks, so no archive node is needed. The function reads 53 blocks, so the result can miss short peaks.
 * @returns undefined on chains without a base fee
 * @throws TransportError the errors of `chain`
 */
export async function fetchBaseFeeRange(chain: Chain): Promise<BaseFeeRange | undefined> {
  const last = await chain.block("latest");
  if (last.baseFeePerGas === undefined) return undefined;
  const near = await chain.block(Math.max(0, last.number - INTERVAL_BLOCKS));
  const secondsPerBlock = (last.timestamp - near.timestamp) / Math.max(1, last.number - near.number);
  const first = secondsPerBlock > 0 ? Math.max(0, Math.round(last.number - YEAR_SECONDS / secondsPerBlock)) : 0;
  const numbers = new Set(
    Array.from({ length: SAMPLES - 1 }, (_, i) => first + Math.floor((i / SAMPLES) * (last.number - first))),
  );
  const blocks = [last];
  for (const number of numbers) if (number < last.number) blocks.push(await chain.block(number));
  const fees = blocks.flatMap(({ baseFeePerGas }) => baseFeePerGas ?? []).sort((a, b) => (a < b ? -1 : 1));
  const times = blocks.map(({ timestamp }) => timestamp);
  return {
    blocks: fees.length,
    from: Math.min(...times) * 1000,
    to: last.timestamp * 1000,
    lowest: fees[0] ?? last.baseFeePerGas,
    median: fees[fees.length >> 1] ?? last.baseFeePerGas,
    highest: fees.at(-1) ?? last.baseFeePerGas,
  };
}
