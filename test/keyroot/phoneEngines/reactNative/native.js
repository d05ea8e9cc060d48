/** The state of the native side. A test changes `contacts` and `attack`: `redirect` or `endless`. */
export const native = { contacts: [], attack: undefined, texts: new Map(), abortedRequests: 0 };
