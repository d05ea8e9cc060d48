export { checkAllBuiltins } from "../input/builtins.ts";
export { parseBoundedJson } from "../input/jsonLimits.ts";
export {
  checkChainId,
  checkFunction,
  checkInteger,
  checkNames,
  checkObject,
  checkSignal,
  checkText,
  invalidArgument,
  MAX_TIMEOUT_MS,
  optional,
} from "../input/options.ts";
export { parseJson } from "../input/parseJson.ts";
export { ShapeChecker } from "../input/shapeChecker.ts";
export { checkUntrusted } from "../input/untrusted.ts";
export { describeValue, isObject, printable } from "../input/values.ts";
