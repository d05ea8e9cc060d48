export { describeValue, printable } from "./describeValue.ts";
export { isObject, parseJson } from "./json.ts";
export { Shape, parseDocument } from "./shape.ts";
