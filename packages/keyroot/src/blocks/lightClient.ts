import type { BlockSource } from "./blockSource.ts";
import { findEndpointBlock } from "./endpoint.ts";

/**
 * Finds the current block of a light client, such as Helios or Colibri. The caller declares that the endpoint is a
 * light client. The library cannot check this declaration.
 * @throws the errors of `findEndpointBlock`
 */
export const findLightClientBlock: BlockSource = async (request) => ({
  ...(await findEndpointBlock(request)),
  anchor: "light-client",
});
