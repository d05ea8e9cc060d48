export { loadPossession } from "../identity/possession/loadPossession.ts";
