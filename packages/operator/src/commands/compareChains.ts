import { ArgumentError, KeyrootError } from "keyroot/internal/errors";
import { describeValue } from "keyroot/internal/input";
import { RPC_LIMITS, rpcCaller } from "keyroot/internal/transport";
import { parseAmount } from "../publisher/chain/parseAmount.ts";
import { Chain } from "../publisher/chain/chain.ts";
import {
  bytesOf,
  type ChainCost,
  type ChainName,
  type ChainPrices,
  costOn,
  fetchPrices,
  gasOf,
  KNOWN_CHAINS,
  type PublishingSize,
} from "../publisher/plan/knownChains.ts";
import { DEFAULT_USERS_PER_FILE } from "../publisher/plan/cutIntoFiles.ts";
import type { RecordTable } from "../publisher/records/recordTable.ts";
import { plural } from "../plural.ts";
import { describeEther, describeGwei, describeMoney } from "./describeAmounts.ts";
import { EXIT } from "./exitCodes.ts";
import type { Outcome } from "./host.ts";

const NAMES = Object.keys(KNOWN_CHAINS) as ChainName[];

/** The source of a chain's gas prices: an endpoint, or values in the option. */
type PriceSource = { url: string } | { gasPrice: bigint; weiPerByte: bigint };

/**
 * A chain with its cost or with its endpoint's error. A chain without a given price has neither a cost nor an error.
 */
interface Row {
  name: ChainName;
  found?: ChainCost;
  /** The error of the chain's endpoint. */
  error?: KeyrootError;
}

interface CompareOptions {
  /** The value of the option `--compare`. */
  compare: string;
  usersPerFile: number;
  allowHttp: boolean;
  /** Converts an amount of wei to the currency of `--eth-price`. Returns undefined without that option. */
  money: (wei: bigint) => number | undefined;
}

/**
 * Estimates the cost of publishing records on each known chain. The estimate needs no registry on these chains.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export async function compareChains(records: RecordTable, options: CompareOptions): Promise<Outcome> {
  const sources = parseSources(options.compare);
  const perTransaction = Math.min(options.usersPerFile, DEFAULT_USERS_PER_FILE, records.length);
  const size = {
    users: records.length,
    transactions: Math.ceil(records.length / perTransaction),
    sample: records.userIDs(0, perTransaction),
  };
  const rows = await Promise.all(NAMES.map((name) => toRow(name, sources.get(name), size, options.allowHttp)));
  if (rows.some(({ error }) => error !== undefined)) process.exitCode = EXIT.unavailable;
  const { users, transactions } = size;
  return {
    json: { users, transactions, chains: rows.map((row) => toJson(row, size, options.money)) },
    text: [
      `${plural(users, "user")} in ${plural(transactions, "transaction")}:`,
      ...alignColumns([
        ["chain", "gas per user", "price of gas", "data fee", "cost", "at --eth-price"],
        ...rows.flatMap((row) => toCells(row, size, options.money)),
      ]),
      ...rows.flatMap(({ name, error }) =>
        error === undefined ? [] : `${KNOWN_CHAINS[name].title}: ${error.message}`,
      ),
    ].join("\n"),
  };
}

async function toRow(
  name: ChainName,
  source: PriceSource | undefined,
  size: PublishingSize,
  allowHttp: boolean,
): Promise<Row> {
  if (source === undefined) return { name };
  try {
    return { name, found: costOn(name, size, await pricesOf(name, source, size, allowHttp)) };
  } catch (error) {
    if (error instanceof ArgumentError || !(error instanceof KeyrootError)) throw error;
    return { name, error };
  }
}

function pricesOf(
  name: ChainName,
  source: PriceSource,
  size: PublishingSize,
  allowHttp: boolean,
): ChainPrices | Promise<ChainPrices> {
  if ("gasPrice" in source) {
    const { gasPrice, weiPerByte } = source;
    return { gasPrice, dataFee: BigInt(bytesOf(size)) * weiPerByte, dataGas: 0 };
  }
  const { maxBytes, timeoutMs } = RPC_LIMITS;
  return fetchPrices(name, new Chain(rpcCaller(source.url, { maxBytes, timeoutMs, allowHttp })), size);
}

/** Parses a value such as `ethereum=1,base=0.01+0.04,gnosis=https://…`. @throws ArgumentError ARGUMENT_INVALID */
function parseSources(text: string): Map<ChainName, PriceSource> {
  const sources = new Map<ChainName, PriceSource>();
  for (const item of text.split(",")) {
    const at = item.indexOf("=");
    const [name, value] = [item.slice(0, at), item.slice(at + 1)];
    if (!isChainName(name) || sources.has(name)) {
      const message = `--compare must be a list of NAME=PRICE, with each name at most once, but it contains ${describeValue(item)}. The names are ${NAMES.join(", ")}.`;
      throw new ArgumentError("ARGUMENT_INVALID", message);
    }
    sources.set(name, /^https?:/i.test(value) ? { url: value } : parsePrices(name, value));
  }
  return sources;
}

function isChainName(name: string): name is ChainName {
  return Object.hasOwn(KNOWN_CHAINS, name);
}

function parsePrices(name: ChainName, text: string): PriceSource {
  const { isRollup } = KNOWN_CHAINS[name];
  const parts = text.split("+");
  const [gasPrice, weiPerByte = 0n] = parts.map((part) => (part === "0" ? 0n : parseAmount(part, "gwei")));
  const areAmounts = gasPrice !== undefined && parts.every((part) => part === "0" || parseAmount(part, "gwei"));
  if (areAmounts && parts.length === (isRollup ? 2 : 1)) return { gasPrice, weiPerByte };
  const form = isRollup
    ? `gwei per unit of gas and gwei per byte, such as ${name}=0.01+0.04`
    : `gwei per unit of gas, such as ${name}=1`;
  const message = `The price of ${name} in --compare must be an endpoint's URL, or ${form}, not ${describeValue(text)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

function toJson({ name, found, error }: Row, size: PublishingSize, money: CompareOptions["money"]): object {
  if (found === undefined) return { name, gas: gasOf(size), error: error?.code };
  const { gas, gasPrice, dataFee, cost, next } = found;
  return {
    ...{ name, gas, gasPerUser: perUser(gas, size) },
    ...{ gasPriceWei: String(gasPrice), dataFeeWei: String(dataFee), costWei: String(cost) },
    money: isEther(name) ? money(cost) : undefined,
    nextFork: next && {
      ...next,
      cost: undefined,
      costAtMost: undefined,
      costWei: String(next.cost),
      costAtMostWei: String(next.costAtMost),
    },
  };
}

/** Returns the table row of a chain, and a second row for the chain's next fork. */
function toCells({ name, found, error }: Row, size: PublishingSize, money: CompareOptions["money"]): string[][] {
  const { title, coin } = KNOWN_CHAINS[name];
  if (found === undefined) {
    const reason = error === undefined ? "no price given" : "no price (see below)";
    return [[title, String(perUser(gasOf(size), size)), reason]];
  }
  const { gas, gasPrice, dataFee, cost, next } = found;
  const cellsOf = (title: string, gas: number, cost: bigint) => {
    const amount = isEther(name) ? money(cost) : undefined;
    return [
      ...[title, String(perUser(gas, size)), describeGwei(gasPrice)],
      dataFee === 0n ? "none" : describeEther(dataFee, coin),
      describeEther(cost, coin),
      amount === undefined ? "" : describeMoney(amount),
    ];
  };
  const later = next && cellsOf(`${title} after ${next.fork}, at most`, next.gasAtMost, next.costAtMost);
  return [cellsOf(title, gas, cost), ...(later === undefined ? [] : [later])];
}

function isEther(name: ChainName): boolean {
  return KNOWN_CHAINS[name].coin === "ETH";
}

function perUser(gas: number, { users }: PublishingSize): number {
  return Math.round(gas / users);
}

/** Aligns the columns of the rows, and indents each line. */
function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length))) ?? [];
  return rows.map(
    (row) =>
      `  ${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()}`,
  );
}
