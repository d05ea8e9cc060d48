/**
 * Limit of a wait in a test, in ms. It ends only endless waits, and ends them before the limit of a whole test (10 minutes), so
 * that the error states what did not happen.
 */
export const ENDLESS_MS = 540_000;
