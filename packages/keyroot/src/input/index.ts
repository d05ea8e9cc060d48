export { checkUntrusted } from "./checkUntrusted.ts";
export { describeValue, printable } from "./describeValue.ts";
export { parseDocument } from "./document.ts";
export { isObject, parseJson } from "./json.ts";
export { checkNames, nearestName } from "./names.ts";
export { ShapeChecker } from "./shapeChecker.ts";
