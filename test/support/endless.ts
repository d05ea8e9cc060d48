/**
 * The limit of a wait in a test, in ms. It is meant only for endless waits, and ends them before the limit of a whole
 * test (10 minutes), so that the error states what did not happen.
 */
export const ENDLESS_MS = 540_000;

/**
 * The limit of a wait for a part of a page, in ms. If a page has no such control, the test fails within a minute, so
 * that even a run with many failures ends.
 */
export const PAGE_MS = 60_000;
