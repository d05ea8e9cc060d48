/** The worker that reads the registry for the start page. */
import { fetchBlock, fetchCodeHash } from "keyroot/internal/ethereum";
import { fetchOwner, fetchRootAddedLogs, fetchUserCount } from "keyroot/internal/registry";
import { RPC_LIMITS, rpcCaller } from "keyroot/internal/transport";
import type { RegistryFacts, RootAdded } from "./messages.ts";
import { type Handler, serveCalls, toFailure } from "./serveCalls.ts";

/**
 * Number of blocks in the first search for events. The search extends to more blocks until it has found enough events
 * or searched `MAX_BLOCKS` blocks.
 */
const FIRST_BLOCKS = 2_000;
const MAX_BLOCKS = 200_000;
const RECENT = 10;

/** Reads the registry at the newest block of the first endpoint. All other endpoints are read at the same block. */
const readRegistry: Handler<"readRegistry"> = async ({ rpc, contract, codeHash, allowHttp }, _, signal) => {
  const { maxBytes, timeoutMs } = RPC_LIMITS;
  const calls = rpc.map((url) => rpcCaller(url, { maxBytes, timeoutMs, signal, allowHttp }));
  try {
    const [first, ...others] = calls as [(typeof calls)[number], ...typeof calls];
    const { number, hash, timestamp } = await fetchBlock(first, "latest");
    const read = async (call: typeof first): Promise<Omit<RegistryFacts, "block" | "agreeing">> => {
      const at = { blockHash: hash };
      const [owner, users, found] = await Promise.all([
        fetchOwner(call, contract, at),
        fetchUserCount(call, contract, at),
        codeHash === undefined ? undefined : fetchCodeHash(call, contract, at),
      ]);
      return { owner, users, code: found === undefined ? "unchecked" : found === codeHash ? "expected" : "different" };
    };
    const facts = await read(first);
    const same = JSON.stringify(facts);
    const answers = await Promise.allSettled(others.map(read));
    const agreeing = answers.filter((answer) => answer.status === "fulfilled" && JSON.stringify(answer.value) === same);
    const block = { number, hash, timestamp };
    return {
      facts: { ...facts, block, agreeing: agreeing.length + 1 },
      ...(await readRecent(first, contract, number)),
    };
  } catch (error) {
    return { failure: toFailure(error) };
  }
};

/**
 * Reads the newest events from the first endpoint. Some events may be missing, because no other endpoint confirms them.
 */
async function readRecent(call: ReturnType<typeof rpcCaller>, contract: string, newest: number) {
  let found: RootAdded[] = [];
  let toBlock = newest;
  for (let span = FIRST_BLOCKS; toBlock >= 0 && newest - toBlock < MAX_BLOCKS && found.length < RECENT; span *= 4) {
    const fromBlock = Math.max(0, toBlock - span + 1);
    const logs = await fetchRootAddedLogs(call, contract, { fromBlock, toBlock });
    found = [
      ...found,
      ...logs.reverse().map(({ root, addedCount, blockNumber }) => ({ root, addedCount, blockNumber })),
    ];
    toBlock = fromBlock - 1;
  }
  return { recent: found.slice(0, RECENT), isWhole: toBlock < 0 && found.length <= RECENT };
}

serveCalls({ readRegistry });
