/**
 * True in `npm run test:all`, which runs more tests: the second chain (Anvil), the second database (PGlite), the second
 * host of the commands, all ends of the demo, and the contract's mutants. `npm test` omits them, so that it ends within
 * minutes.
 */
export const testAll = process.env["TEST_ALL"] === "1";

/** true with `FAULTS=large`: the fault tests run in full, for minutes or hours, and print their outcome. */
export const isLarge = process.env["FAULTS"] === "large";
