/**
 * Limit of a wait in a test, in ms. It ends only endless waits. It ends them before a whole test's limit (10 minutes), so that
 * the error states what did not happen.
 */
export const ENDLESS_MS = 540_000;
