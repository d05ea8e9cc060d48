import { type Policy, requireVerification } from "./authenticate.ts";
import { tokenRefused } from "./authenticator.ts";
import type { ServiceContext } from "./context.ts";
import type { AnyPrincipal } from "./defineOperation.ts";

/**
 * Checks that a person has verified the request with a passkey if required, and that the partner is not suspended.
 * @throws ServiceError VERIFICATION_REQUIRED, PARTNER_SUSPENDED
 */
export async function checkStaffRequest(
  { role, verified = false, duringSuspension = false }: Policy,
  context: Pick<ServiceContext, "sessions" | "partners" | "now">,
  principal: AnyPrincipal,
): Promise<void> {
  if (principal?.kind !== "person") return;
  const { bizID, session } = principal;
  if (verified) await requireVerification(context, session);
  if (role === "administrator" && !duringSuspension) await refuseSuspended(context, bizID);
}

/** @throws ServiceError PARTNER_SUSPENDED */
export async function refuseSuspended(
  { partners }: Pick<ServiceContext, "partners">,
  bizID: string | null,
): Promise<void> {
  if (bizID !== null && (await partners.isSuspended(bizID))) throw tokenRefused("suspended");
}
