import { checkInteger, checkNames, invalidArgument } from "../input/options.ts";
import type { BlockTag } from "./blockSource.ts";

/** The requirements for a block that an endpoint reports. */
export interface BlockOptions {
  /** The confirmation state of the block. Default: `latest`. */
  block?: BlockTag | undefined;
  /**
   * Maximum age of the block in ms. If an endpoint's block is older, the endpoint has stopped or hides newer blocks.
   */
  maxAgeMs?: number | undefined;
}

const TAGS: readonly unknown[] = ["latest", "safe", "finalized"];

/**
 * Checks the options of a constructor such as `oneEndpoint`.
 * @param names the names of the options that only this constructor has
 */
export function parseBlockOptions(
  choice: string,
  options: BlockOptions,
  names: readonly string[] = [],
): { tag: BlockTag; maxAgeMs: number | undefined } {
  checkNames(`The options of ${choice}`, options, ["block", "maxAgeMs", ...names]);
  const { block: tag = "latest" } = options;
  if (!TAGS.includes(tag)) throw invalidArgument(`The block option of ${choice}`, "latest, safe or finalized", tag);
  return { tag, maxAgeMs: parseMaxAge(choice, options.maxAgeMs) };
}

/** Checks the maximum age of a block. @throws ArgumentError ARGUMENT_INVALID */
export function parseMaxAge(choice: string, maxAgeMs: number | undefined): number | undefined {
  return maxAgeMs === undefined ? undefined : checkInteger(`The maxAgeMs option of ${choice}`, maxAgeMs, 0);
}
