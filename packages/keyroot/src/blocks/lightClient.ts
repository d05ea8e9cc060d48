import type { BlockSource } from "./blockSource.ts";
import { findEndpointBlock } from "./endpoint.ts";

/**
 * The block that a light client reports. The caller declares that the endpoint is one, such as Helios or Colibri: nothing here
 * can check this.
 * @throws as `findEndpointBlock`
 */
export const findLightClientBlock: BlockSource = async (request) => ({
  ...(await findEndpointBlock(request)),
  anchor: "light-client",
});
