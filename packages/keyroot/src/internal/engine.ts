export { decodeUtf8 } from "../engine/utf8.ts";
export { encodeUtf8 } from "../engine/utf8.ts";
export { isWellFormed } from "../engine/utf8.ts";
export { parseUrl } from "../engine/parseUrl.ts";
export { withResolvers } from "../engine/language.ts";
export { loadModule } from "../engine/loadModule.ts";
