/**
 * The root of the first block of every simulated beacon chain, for the option `checkpoint`. `SimulatedBeacon.answer`
 * creates this block with `simulateBootstrap`.
 */
export const TEST_CHECKPOINT = "0x054848ffc5ddd0fe6778ff79eb267a4a387e69bda0675fcc4b626ae7e44c309a";
