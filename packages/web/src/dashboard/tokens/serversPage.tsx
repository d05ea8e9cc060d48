import { Command, Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { Term } from "../../shared/term.tsx";
import { call, isAdministrator, type Me, type Partner } from "../shared/api.ts";
import { exchangeCommand } from "../shared/exampleCommands.ts";
import { usePages } from "../shared/useCall.ts";
import { FirstRequest } from "./firstRequest.tsx";
import { serverTokenName, TokensCard } from "./tokensCard.tsx";

export function ServersPage({ me, partner }: { me: Me; partner: Partner }) {
  const tokens = usePages("/v1/authdBizSrv/serverTokens/list", "tokens");
  const canChange = isAdministrator(me);
  return (
    <>
      <h1>Servers</h1>
      <TokensCard
        title={<Term of="server token">Server tokens</Term>}
        intro={
          <Facts>
            <Fact name={<Term of="business identifier">Business identifier</Term>}>
              <Value value={partner.biz_id} name="biz_id" />
            </Fact>
          </Facts>
        }
        empty={
          <div class="empty">
            <p>
              There is no server token yet. Create the first one. Your server exchanges it for an{" "}
              <Term of="access token" />:
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
                  hint: "For example, the server that will use it.",
                  field: "name",
                  subject: "The name",
                  optional: true,
                },
                create: async (name) => {
                  const token = await call("/v1/dashboard/serverTokens/create", name === undefined ? {} : { name });
                  return { token: token.token, steps: <FirstRequest bizID={partner.biz_id} token={token} /> };
                },
                secretTitle: "Your new server token",
                advice: "Store it as a secret of your server now.",
              }
            : undefined
        }
        revocation={
          canChange
            ? {
                revoke: (token_id) => call("/v1/authdBizSrv/serverTokens/revoke", { token_id }),
                effect:
                  "Servers that use this token stop working immediately. They can no longer create users or tokens, and their current access tokens are rejected. Your users’ tokens and published keys are not affected.",
              }
            : undefined
        }
      />
    </>
  );
}
