export { ANSWER } from "./answers.ts";
export { operationCaller } from "./callOperation.ts";
export { checkClientOptions } from "./options.ts";
