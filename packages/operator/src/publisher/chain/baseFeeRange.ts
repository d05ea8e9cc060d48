import { parseSafeQuantity, toQuantity } from "keyroot/ethereum";
import { isObject } from "keyroot/input";
import { type Chain, parsePrice } from "./chain.ts";

/** The base fees of blocks at equal intervals, in wei per unit of gas. */
export interface BaseFeeRange {
  /** The number of blocks that were read. */
  blocks: number;
  /** The times of the first and the last of these blocks, in ms since 1970. */
  from: number;
  to: number;
  lowest: bigint;
  median: bigint;
  highest: bigint;
}

const YEAR_SECONDS = 365 * 24 * 60 * 60;
/** The number of blocks to read from the last year: about one per week. */
const SAMPLES = 53;
/** The number of blocks over which the mean block time is measured. */
const INTERVAL_BLOCKS = 1_000;

/**
 * Reads the base fees of the last year, or of all blocks of a younger chain. Every full node has the headers of old blocks,
 * so no archive node is needed. 53 blocks can miss short peaks.
 * @returns undefined on chains without a base fee
 * @throws TransportError the errors of `chain`
 */
export async function fetchBaseFeeRange(chain: Chain): Promise<BaseFeeRange | undefined> {
  const last = await fetchHeader(chain, "latest");
  if (last.baseFee === undefined) return undefined;
  const near = await fetchHeader(chain, Math.max(0, last.number - INTERVAL_BLOCKS));
  const secondsPerBlock = (last.time - near.time) / Math.max(1, last.number - near.number);
  const first = secondsPerBlock > 0 ? Math.max(0, Math.round(last.number - YEAR_SECONDS / secondsPerBlock)) : 0;
  const numbers = new Set(
    Array.from({ length: SAMPLES - 1 }, (_, i) => first + Math.floor((i / SAMPLES) * (last.number - first))),
  );
  const headers = [last];
  for (const number of numbers) if (number < last.number) headers.push(await fetchHeader(chain, number));
  const fees = headers.flatMap(({ baseFee }) => baseFee ?? []).sort((a, b) => (a < b ? -1 : 1));
  const times = headers.map(({ time }) => time);
  return {
    blocks: fees.length,
    from: Math.min(...times) * 1000,
    to: last.time * 1000,
    lowest: fees[0] ?? last.baseFee,
    median: fees[fees.length >> 1] ?? last.baseFee,
    highest: fees.at(-1) ?? last.baseFee,
  };
}

/** The fields of a block that `fetchBaseFeeRange` needs. */
interface Header {
  number: number;
  /** The block's time in seconds since 1970. */
  time: number;
  /** Undefined for blocks from before the chain had a base fee. */
  baseFee: bigint | undefined;
}

/** The latest time that a JavaScript date can hold, in seconds since 1970. */
const MAX_SECONDS = 8.64e12;

function fetchHeader(chain: Chain, block: number | "latest"): Promise<Header> {
  const tag = typeof block === "number" ? toQuantity(block) : block;
  return chain.request("eth_getBlockByNumber", [tag, false], (answer) => {
    if (!isObject(answer)) throw new Error("not a block");
    const { number, timestamp, baseFeePerGas = null } = answer;
    const header = { number: parseSafeQuantity(number), time: parseSafeQuantity(timestamp) };
    if (typeof block === "number" && header.number !== block) throw new Error("another block");
    if (header.time > MAX_SECONDS) throw new Error("a time that no date has");
    return { ...header, baseFee: baseFeePerGas === null ? undefined : parsePrice(baseFeePerGas) };
  });
}
