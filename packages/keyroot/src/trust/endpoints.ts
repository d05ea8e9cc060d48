import { loadModule } from "../engine/loadModule.ts";
import { checkInteger } from "../input/options.ts";
import { checkDifferentHosts } from "../transport/differentHosts.ts";
import { type BlockOptions, parseBlockOptions } from "./blockOptions.ts";
import { makeTrust, type Trust } from "./trust.ts";

/** The settings of `endpoints`. */
export interface EndpointsOptions extends BlockOptions {
  /**
   * The number of endpoints in `rpc` that must agree on a block and on the contract's answer at this block. Require
   * more than half of the endpoints. Otherwise, two groups with different answers could both be large enough.
   */
  required: number;
}

/**
 * Trusts an answer that at least `required` of the endpoints in `rpc` give. A false answer is accepted only if at least
 * `required` endpoints give the same one. The endpoints must be on different hosts.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const trust = endpoints({ required: 2 });
 */
export function endpoints(options: EndpointsOptions): Trust {
  const block = parseBlockOptions("endpoints", options, ["required"]);
  const required = checkInteger("The required option of endpoints", options.required, 1);
  return makeTrust("endpoints", () => ({
    ...block,
    required,
    storageProof: false,
    checkEndpoints: checkDifferentHosts,
    findBlock: async (request) => (await loadModule(() => import("./agreedBlock.ts"))).findAgreedBlock(request),
    accepts: (_, agreeing) => agreeing >= required,
  }));
}
