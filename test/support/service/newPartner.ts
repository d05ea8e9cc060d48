import type { PartnerClientOptions } from "../../../packages/client/src/partner/options.ts";
import type { TestService } from "./support.ts";

/** The credentials of a partner's client. */
export type Partner = Pick<PartnerClientOptions, "bizID" | "serverToken">;

/** Creates a partner in the service. */
export async function newPartner(service: TestService): Promise<Partner> {
  const { bizID, refreshToken } = await service.createPartner();
  return { bizID: bizID, serverToken: refreshToken };
}
