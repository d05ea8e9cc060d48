import { adminClientOf, requireBizID } from "./adminClient.ts";
import type { ArgsOf } from "./help.ts";
import type { Host, Outcome } from "@keyroot/operator/commands";

/** `keyroot create-server-token`: a refresh token for a partner's server, printed once. */
export default async function createServerToken(args: ArgsOf<"create-server-token">, host: Host): Promise<Outcome> {
  const { bizID, name, serviceUrl } = args;
  const admin = await adminClientOf(serviceUrl, host);
  const { token: serverToken } = await admin.createServerToken(requireBizID(bizID), { name });
  return {
    json: { bizID, serverToken },
    text: `${serverToken}\nStore it as a secret of the partner's server: it never expires and is not shown again.`,
  };
}
