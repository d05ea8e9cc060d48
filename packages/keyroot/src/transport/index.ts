export { DEFAULT_LIMITS, fetchBytes, withTimeout } from "./fetchBytes.ts";
export { fetchMerkleFile } from "./fetchMerkleFile.ts";
export { type Eip1193Provider, type RpcCall, checkUrl, rpcCaller } from "./jsonRpc.ts";
