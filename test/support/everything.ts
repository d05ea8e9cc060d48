/**
 * True in `npm run test:all -- --everything`, which CI runs every night. It adds tests that take long and seldom fail.
 */
export const everything = process.env["TEST_EVERYTHING"] === "1";
