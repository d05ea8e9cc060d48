import { parsePoint } from "./curve41417Point.ts";
import type { KeyType } from "./keyType.ts";
import { ROWS } from "./rows.ts";

/**
 * The keys of the specification, and the default key type: uncompressed points of Curve41417, encoded as 0x04, X and Y
 * (SEC 1, section 2.3.3). A point must be on the curve and must not have a small order.
 */
export const curve41417: KeyType = {
  ...ROWS.curve41417,
  check: parsePoint,
};
