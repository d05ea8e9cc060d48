export { checkAllBuiltins } from "./builtins.ts";
export { checkUntrusted } from "./untrusted.ts";
export { describeValue, printable } from "./describeValue.ts";
export { parseDocument } from "./document.ts";
export { parseJson } from "./parseJson.ts";
export { isObject } from "./isObject.ts";
export { checkNames, nearestName } from "./options.ts";
export { checkInteger, checkObject, checkText, MAX_TIMEOUT_MS, optional } from "./options.ts";
export { ShapeChecker } from "./shapeChecker.ts";
