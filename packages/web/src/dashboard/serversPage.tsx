import { useCallback, useState } from "preact/hooks";
import { Command } from "../shared/code.tsx";
import { Field } from "../shared/field.tsx";
import { call, type CreatedToken, type Me, type ServerToken } from "./api.ts";
import { Confirm, Dialog, Failure, ListEnd, Secret, Time } from "./parts.tsx";
import { useAction, usePages } from "./useCall.ts";

/** The tokens with which the partner's servers call the service. */
export function ServersPage({ me }: { me: Me }) {
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
          <ul class="rows">
            {tokens.items.map((token) => (
              <li key={token.token_id} class="row">
                <div class="row-text">
                  <b>
                    {token.name ?? "Without a name"}{" "}
                    <span class={token.revoked === null ? "badge badge-good" : "badge badge-off"}>
                      {token.revoked === null ? "active" : "revoked"}
                    </span>
                  </b>
                  <span class="detail">
                    created <Time ms={token.created} />
                    {token.revoked !== null && (
                      <>
                        {" · "}revoked <Time ms={token.revoked} />
                      </>
                    )}
                  </span>
                </div>
                {isAdministrator && token.revoked === null && (
                  <button
                    type="button"
                    class="button button-small"
                    aria-label={`Revoke: ${token.name ?? "without a name"}`}
                    onClick={() => {
                      setDoomed(token);
                    }}
                  >
                    Revoke
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
        {tokens.items?.length === 0 && (
          <div class="empty">
            <p>There is no server token yet. Create the first one. Your server exchanges it for an access token:</p>
            <Command command={exchangeCommand(me.partner.biz_id)} />
          </div>
        )}
        <ListEnd pages={tokens} />
      </section>
      {isCreating && (
        <CreateDialog
          onCreated={(token) => {
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

function CreateDialog({ onCreated, onCancel }: { onCreated: (token: CreatedToken) => void; onCancel: () => void }) {
  const [name, setName] = useState("");
  const { run, busy, error } = useAction(async () => {
    const trimmed = name.trim();
    onCreated(await call<CreatedToken>("serverTokens/create", trimmed === "" ? {} : { name: trimmed }));
  });
  const ofName = error?.fields["name"];
  return (
    <Dialog title="Create a server token" onCancel={onCancel}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <Field
          label="Name (optional)"
          hint="Such as the server that will use it."
          error={ofName && `The name ${ofName}.`}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              class="plain"
              autocomplete="off"
              value={name}
              onInput={({ currentTarget }) => {
                setName(currentTarget.value);
              }}
            />
          )}
        </Field>
        <p class="detail">You verify with your passkey, then the token is shown once.</p>
        <Failure error={ofName === undefined ? error : undefined} />
        <div class="buttons">
          <button type="submit" class="button button-primary" disabled={busy}>
            Create
          </button>
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** A call that works with this service. The token comes from the environment, so that no history of commands has it. */
function exchangeCommand(bizID: string): string {
  const url = new URL("../v1/public/auth/jwt", location.href);
  return `curl ${url.href} -H 'Content-Type: application/json' -d "{\\"biz_id\\":\\"${bizID}\\",\\"token\\":\\"$TOKEN\\"}"`;
}
