import { Command } from "../shared/code.tsx";
import { call, type CreatedToken, isAdministrator, type Me, type Partner, type ServerToken } from "./api.ts";
import { exchangeCommand } from "./commands.ts";
import { serverTokenName } from "./tokenList.tsx";
import { TokensCard } from "./tokensCard.tsx";
import { usePages } from "./useCall.ts";

/** The tokens with which the partner's servers call the service. */
export function ServersPage({ me, partner }: { me: Me; partner: Partner }) {
  const tokens = usePages<ServerToken>("serverTokens/list", "tokens");
  const canChange = isAdministrator(me);
  return (
    <>
      <h1>Servers</h1>
      <p class="lead">
        Your servers prove with a <dfn>server token</dfn> that they act for your company: a secret that never expires.
      </p>
      <TokensCard
        title="Server tokens"
        empty={
          <div class="empty">
            <p>
              There is no server token yet. Create the first one. Your server exchanges it for an{" "}
              <dfn>access token</dfn>, with which it calls the service for four hours:
            </p>
            <Command command={exchangeCommand(partner.biz_id)} />
          </div>
        }
        tokens={tokens}
        nameOf={serverTokenName}
        creation={
          canChange
            ? {
                dialog: {
                  title: "Create a server token",
                  label: "Name (optional)",
                  hint: "Such as the server that will use it.",
                  field: "name",
                  subject: "The name",
                  optional: true,
                },
                create: (name) => call<CreatedToken>("serverTokens/create", name === undefined ? {} : { name }),
                secretTitle: "Your new server token",
                advice: "Store it as a secret of your server now.",
              }
            : undefined
        }
        revocation={
          canChange
            ? {
                revoke: (token_id) => call("serverTokens/revoke", { token_id }),
                effect:
                  "Servers that use this token stop working at once: they can no longer create users or tokens, and their current access tokens are refused, too. Your users’ own tokens and published keys are not affected.",
              }
            : undefined
        }
      />
    </>
  );
}
