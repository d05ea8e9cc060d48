export { generateKeyOf, KEY_TYPE_NAMES, loadKeyType } from "../identity/keyTypes/loadKeyType.ts";
