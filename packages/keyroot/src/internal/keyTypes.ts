export { generateKeyOf, loadKeyType } from "../identity/keyTypes/loadKeyType.ts";
