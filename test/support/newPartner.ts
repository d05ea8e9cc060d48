import type { PartnerClientOptions } from "../../packages/keyroot/src/client/partner/partnerClient.ts";
import type { TestService } from "./service/support.ts";

/** Who a partner's client is. */
export type Partner = Pick<PartnerClientOptions, "bizId" | "serverToken">;

/** A partner that the service knows. */
export async function newPartner(service: TestService): Promise<Partner> {
  const { bizID, refreshToken } = await service.createPartner();
  return { bizId: bizID, serverToken: refreshToken };
}
