export { buildContracts } from "./build.ts";
export { deployRegistry } from "./deployRegistry.ts";
export { startFileHost } from "./fileHost.ts";
export { startLocalChain } from "./localChain.ts";
export { listen, type Listening, type StackService } from "@keyroot/operator/shared";
export { stackPorts, takenPortsLine } from "./stackPorts.ts";
export { type Stack, type StackOptions, startStack } from "./startStack.ts";
