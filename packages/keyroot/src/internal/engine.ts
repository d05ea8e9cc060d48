export { withResolvers } from "../engine/language.ts";
export { loadModule } from "../engine/loadModule.ts";
export { parseUrl } from "../engine/parseUrl.ts";
export { decodeUtf8, encodeUtf8, isWellFormed } from "../engine/utf8.ts";
