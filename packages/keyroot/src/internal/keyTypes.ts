export { generateKeyOf, KEY_TYPE_NAMES, loadKeyType } from "../identity/keyTypes/loadKeyType.ts";
export { loadPossession } from "../identity/possession/loadPossession.ts";
