export { command, messageOf, print } from "./command.ts";
export {} from "./exitCodes.ts";
export { Target, type TargetArgs, checkAddress } from "./target.ts";
