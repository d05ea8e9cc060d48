import { useCallback, useState } from "preact/hooks";
import { Command } from "../shared/code.tsx";
import { call, type CreatedToken, type Me, type Partner, type ServerToken } from "./api.ts";
import { exchangeCommand } from "./commands.ts";
import { Confirm, ListEnd, Secret } from "./parts.tsx";
import { TextDialog } from "./textDialog.tsx";
import { TokenList } from "./tokenList.tsx";
import { useAction, usePages } from "./useCall.ts";

/** The tokens with which the partner's servers call the service. */
export function ServersPage({ me, partner }: { me: Me; partner: Partner }) {
  const tokens = usePages<ServerToken>("serverTokens/list", "tokens");
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedToken>();
  const [doomed, setDoomed] = useState<ServerToken>();
  const isAdministrator = me.person.role === "administrator";
  const revoke = useAction(async () => {
    await call("serverTokens/revoke", { token_id: doomed?.token_id });
    setDoomed(undefined);
    tokens.reload();
  });
  const forget = useCallback(() => {
    setCreated(undefined);
  }, []);
  return (
    <>
      <h1>Servers</h1>
      <p class="lead">
        Your servers prove with a <dfn>server token</dfn> that they act for your company: a secret that never expires.
      </p>
      <section class="card" aria-labelledby="tokens-title">
        <div class="card-head">
          <h2 id="tokens-title">Server tokens</h2>
          {isAdministrator && (
            <button
              type="button"
              class="button button-primary"
              onClick={() => {
                setCreating(true);
              }}
            >
              Create a server token
            </button>
          )}
        </div>
        {tokens.items && tokens.items.length > 0 && (
          <TokenList tokens={tokens.items} nameOf={nameOf} onRevoke={isAdministrator ? setDoomed : undefined} />
        )}
        {tokens.items?.length === 0 && (
          <div class="empty">
            <p>There is no server token yet. Create the first one. Your server exchanges it for an access token:</p>
            <Command command={exchangeCommand(partner.biz_id)} />
          </div>
        )}
        <ListEnd pages={tokens} />
      </section>
      {isCreating && (
        <TextDialog
          title="Create a server token"
          label="Name (optional)"
          hint="Such as the server that will use it."
          field="name"
          subject="The name"
          optional
          note="You verify with your passkey, then the token is shown once."
          action="Create"
          onSubmit={async (name) => {
            const token = await call<CreatedToken>("serverTokens/create", name === undefined ? {} : { name });
            setCreating(false);
            setCreated(token);
            tokens.reload();
          }}
          onCancel={() => {
            setCreating(false);
          }}
        />
      )}
      {created && (
        <Secret title="Your new server token" name="the token" value={created.token} onDone={forget}>
          <p>
            Store it as a secret of your server now. It is shown until you click Done, and can never be shown again: the
            service keeps no copy.
          </p>
        </Secret>
      )}
      {doomed && (
        <Confirm
          title={`Revoke ${doomed.name ?? "the token without a name"}?`}
          action="Revoke"
          busy={revoke.busy}
          error={revoke.error}
          onConfirm={() => void revoke.run()}
          onCancel={() => {
            setDoomed(undefined);
          }}
        >
          <p>
            Servers that use this token stop working at once: they can no longer create users or tokens, and their
            current access tokens are refused, too. Your users’ own tokens and published keys are not affected. This
            cannot be undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

function nameOf({ name }: ServerToken): string {
  return name ?? "Without a name";
}
