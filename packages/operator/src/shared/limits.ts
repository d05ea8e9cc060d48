/** The largest signed 32-bit integer. */
export const MAX_INT32 = 2 ** 31 - 1;
/**
 * The longest time that a timer can wait, in seconds. Node.js changes longer times to 1 ms (documentation of `setTimeout`).
 */
export const MAX_TIMER_SECONDS = Math.floor(MAX_INT32 / 1000);
