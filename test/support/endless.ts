/**
 * Limit of a wait in a test, in ms. It ends only endless waits. It ends them before a whole test's limit (10 minutes), so that
 * the error states what did not happen.
 */
export const ENDLESS_MS = 540_000;

/**
 * Limit of a wait for a part of a page, in ms. If a page has no such control, the test fails within a minute, so a run with many
 * failures still ends.
 */
export const PAGE_MS = 60_000;
