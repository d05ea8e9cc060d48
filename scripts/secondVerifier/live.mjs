// Reads the data that the second verifier needs for a live user: the block, its proofs and the file. Nothing is checked
// here, but the size and time of each answer are limited.
const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 2 ** 20;
const MAX_FILE_BYTES = 2 ** 24;

/** An endpoint or a file host did not answer. This says nothing about the user's key. */
export class Unavailable extends Error {}

async function fetchBytes(url, init, maxBytes) {
  const chunks = [];
  try {
    const response = await fetch(url, { ...init, redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    let length = 0;
    for await (const chunk of response.body ?? []) {
      length += chunk.length;
      if (length > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Unavailable(`${new URL(url).host} did not answer: ${error.message}`, { cause: error });
  }
  return Buffer.concat(chunks);
}

function unavailable(message) {
  throw new Unavailable(message);
}

async function call(rpc, method, ...params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  const answer = (await fetchBytes(rpc, init, MAX_ANSWER_BYTES)).toString("utf8");
  try {
    const { result, error } = JSON.parse(answer);
    return result ?? unavailable(error?.message ?? "no result");
  } catch (error) {
    throw new Unavailable(`${method}: ${error.message}`, { cause: error });
  }
}

/**
 * Reads a block, and the proof of a storage slot in it.
 * @param slotOn returns the storage slot on a chain
 * @param block a tag such as `finalized`, or a block hash
 */
export async function readProofs({ rpc, contract, slotOn, block }) {
  const chainId = Number(await call(rpc, "eth_chainId"));
  const method = block.startsWith("0x") ? "eth_getBlockByHash" : "eth_getBlockByNumber";
  const header = await call(rpc, method, block, false);
  const { accountProof, storageProof } = await call(rpc, "eth_getProof", contract, [slotOn(chainId)], header.number);
  return { chainId, header, accountProof, storageProof: storageProof?.[0]?.proof };
}

export function readFile(merkleUrl, root) {
  return fetchBytes(`${merkleUrl.replace(/\/$/, "")}/${root}.json`, {}, MAX_FILE_BYTES);
}
