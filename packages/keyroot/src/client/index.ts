export { ANSWER } from "./answers.ts";
export { operationCaller } from "./callOperation.ts";
export { checkOptions } from "./options.ts";
