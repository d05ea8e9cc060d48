import { parseSafeQuantity, toQuantity } from "keyroot/ethereum";
import { isObject } from "keyroot/input";
import { type Chain, parsePrice } from "./chain.ts";

/** Base fees of blocks that are evenly spread over a time, in wei per unit of gas. */
export interface BaseFeeRange {
  /** Number of blocks that were read. */
  blocks: number;
  /** Times of the first and the last of them, in milliseconds since 1970. */
  from: number;
  to: number;
  lowest: bigint;
  median: bigint;
  highest: bigint;
}

const YEAR_SECONDS = 365 * 24 * 60 * 60;
/** One block a week. */
const SAMPLES = 53;
/** Distance of the blocks that show how often the chain makes one. */
const INTERVAL_BLOCKS = 1_000;

/**
 * The base fees of the last year, or since the chain's first block. Every full node has the headers of old blocks, so no archive
 * is needed. The lowest and highest of 53 blocks can miss short peaks.
 * @returns undefined on chains without a base fee
 * @throws TransportError as the chain
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

/** The fields of a block that the range needs. */
interface Header {
  number: number;
  /** In seconds since 1970. */
  time: number;
  /** Undefined for blocks before the chain had a base fee. */
  baseFee: bigint | undefined;
}

/** The latest time that a date can have, in seconds. */
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
