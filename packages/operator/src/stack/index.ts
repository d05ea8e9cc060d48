export { buildContracts } from "./build.ts";
export { startFileHost } from "./fileHost.ts";
export { startLocalChain } from "./localChain.ts";
export { freePort, listen, type Listening, stackPorts } from "./ports.ts";
export { type Stack, startStack } from "./stack.ts";
export { type StackService } from "./stackFile.ts";
