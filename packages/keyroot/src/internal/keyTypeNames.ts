export { KEY_TYPE_NAMES } from "../identity/keyTypes/rows.ts";
