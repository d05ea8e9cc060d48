export { KEY_TYPE_NAMES, ROWS } from "../identity/keyTypes/rows.ts";
