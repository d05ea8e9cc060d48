export { fetchBytes } from "./fetchBytes.ts";
export { withTimeout } from "./timeout.ts";
export { DEFAULT_LIMITS, RPC_LIMITS } from "./limits.ts";
export { checkDifferentHosts } from "./differentHosts.ts";
export { fetchMerkleFile } from "./fetchMerkleFile.ts";
export { type Eip1193Provider, type RpcCall, type RpcOptions, rpcCaller } from "./jsonRpc.ts";
export { checkSourceUrl, checkUrl, isLoopback } from "./url.ts";
