import { SHA256 } from "@stablelib/sha256";
import { encodeUtf8 } from "../engine/utf8.ts";
import { portableBytesToHex } from "./hex.ts";
import { builtinModule } from "./builtinModule.ts";

const nodeHash = builtinModule("node:crypto")?.hash;

const hasher = new SHA256();

/**
 * Computes SHA-256 of bytes or of a text in UTF-8, in plain JavaScript. The loops of StableLib's code call no
 * functions. On phones whose JavaScript engine does not compile code, it therefore takes less than half as long as
 * Noble's code.
 * @returns 64 lowercase hex digits
 */
export const portableSha256Hex = (data: string | Uint8Array): string =>
  portableBytesToHex(
    hasher
      .reset()
      .update(typeof data === "string" ? encodeUtf8(data) : data)
      .digest(),
  );

/**
 * Computes SHA-256 of bytes or of a text in UTF-8. It uses Node's function if there is one, and otherwise plain
 * JavaScript.
 * @returns 64 lowercase hex digits
 */
export const sha256Hex: typeof portableSha256Hex = nodeHash ? (data) => nodeHash("sha256", data) : portableSha256Hex;
