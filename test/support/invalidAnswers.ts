const HASH = `0x${"0123456789abcdef".repeat(4)}`;

/** Answers of an endpoint that are neither a quantity nor bytes in hex. */
export const INVALID_ANSWERS: readonly unknown[] = [
  ...[undefined, null, true, 1, 1n, "", "latest", "0xg0", `${HASH}\n`, ` ${HASH}`, [HASH], {}],
];
