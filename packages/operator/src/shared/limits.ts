/** The largest signed integer of 32 bits. */
export const MAX_INT32 = 2 ** 31 - 1;
/** The longest wait of a timer, in seconds: Node.js turns longer ones into 1 ms (its documentation of `setTimeout`). */
export const MAX_TIMER_SECONDS = Math.floor(MAX_INT32 / 1000);
