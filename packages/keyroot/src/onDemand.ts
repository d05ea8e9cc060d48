/**
 * What a basic verification does not need. It is loaded with `import()`, from here only: every other module that is loaded
 * apart would split what it shares with the rest, and make the part that all apps load larger.
 */
export { fetchCodeHash } from "./ethereum/codeHash.ts";
export { checkNames } from "./input/names.ts";
export { checkAnswer } from "./transport/checkAnswer.ts";
export { checkNodes, checkPlainHttp } from "./transport/host.ts";
export { readRootAtBlock } from "./verifier/readRootAtBlock.ts";
