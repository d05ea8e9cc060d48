import type { BlockSource } from "./blockSource.ts";
import { findEndpointBlock } from "./endpoint.ts";

/**
 * Finds the current block of an endpoint that the caller declares to be a light client, such as Helios or Colibri. The
 * library cannot check this declaration.
 * @throws the errors of `findEndpointBlock`
 */
export const findLightClientBlock: BlockSource = async (request) => ({
  ...(await findEndpointBlock(request)),
  anchor: "light-client",
});
