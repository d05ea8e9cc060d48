import { adminClientOf, requireBizId } from "./adminClient.ts";
import type { ArgsOf } from "./definitions.ts";
import type { Host, Outcome } from "./host.ts";

/** `keyroot create-server-token`: a refresh token for a partner's server, printed once. */
export default async function createServerToken(args: ArgsOf<"create-server-token">, host: Host): Promise<Outcome> {
  const { bizId, name, service } = args;
  const admin = await adminClientOf(service, host);
  const { token: serverToken } = await admin.createServerToken(requireBizId(bizId), { name });
  return {
    json: { bizId, serverToken },
    text: `${serverToken}\nStore it as a secret of the partner's server: it never expires and is not shown again.`,
  };
}
