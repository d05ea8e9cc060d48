export { DEFAULT_LIMITS, fetchBytes, withTimeout } from "./fetchBytes.ts";
export { isLoopback } from "./host.ts";
export { fetchMerkleFile } from "./fetchMerkleFile.ts";
export { type Eip1193Provider, type RpcCall, type RpcOptions, rpcCaller } from "./jsonRpc.ts";
export { checkSourceUrl, checkUrl } from "./url.ts";
