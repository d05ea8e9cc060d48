import { userIDToHex } from "keyroot/identity";
import { useCallback, useState } from "preact/hooks";
import { Value } from "../shared/code.tsx";
import { readUserID } from "../shared/userIDInput.ts";
import { call, type CreatedToken, type Me, type User, type UserKey, type UserToken } from "./api.ts";
import { Confirm, Failure, ListEnd, Secret, Time } from "./parts.tsx";
import { regionName } from "./regions.ts";
import { TextDialog } from "./textDialog.tsx";
import { TokenList } from "./tokenList.tsx";
import { useAction, useLoaded, usePages } from "./useCall.ts";

/** One user: key and refresh tokens. @param id from the address, in either form */
export function UserPage({ me, id }: { me: Me; id: string }) {
  const read = readUserID(id);
  return (
    <>
      <p class="back">
        <a href="#/users">All users</a>
      </p>
      <h1>User</h1>
      {"error" in read ? <p role="alert">{read.error}</p> : <KnownUser me={me} userIDHex={userIDToHex(read.userID)} />}
    </>
  );
}

function KnownUser({ me, userIDHex }: { me: Me; userIDHex: string }) {
  const { data, error, reload } = useLoaded<{ user: User; key: UserKey | null }>("users/get", {
    user_id_hex: userIDHex,
  });
  if (data === undefined) return error ? <Failure error={error} retry={reload} /> : <p role="status">Loading…</p>;
  const { user, key } = data;
  return (
    <>
      <section class="card" aria-labelledby="user-title">
        <h2 id="user-title">Identity</h2>
        <dl class="facts">
          <dt>User id</dt>
          <dd>
            <Value value={user.user_id} name="the user id" />
          </dd>
          <dt>The same in hex, as your server sends it</dt>
          <dd>
            <Value value={userIDHex} name="the user id in hex" />
          </dd>
          <dt>Region</dt>
          <dd>{regionName(user.region)}</dd>
          <dt>Created</dt>
          <dd>
            <Time ms={user.created} />
          </dd>
          {user.deactivated !== null && (
            <>
              <dt>Deactivated</dt>
              <dd>
                <Time ms={user.deactivated} />: all tokens of this user are refused.
              </dd>
            </>
          )}
        </dl>
      </section>
      <KeyCard user={user} registered={key} explorerUrl={me.explorer_url} />
      <TokensCard
        userIDHex={userIDHex}
        canRevoke={me.person.role === "administrator"}
        canCreate={me.person.role === "administrator" && user.deactivated === null}
      />
    </>
  );
}

interface KeyCardProps {
  user: User;
  registered: UserKey | null;
  explorerUrl: string | null;
}

const STATES = {
  pending: ["badge badge-open", "registered, not published yet"],
  submitted: ["badge badge-open", "being published"],
  published: ["badge badge-good", "published"],
} as const;

function KeyCard({ user, registered, explorerUrl }: KeyCardProps) {
  if (registered === null) {
    return (
      <section class="card" aria-labelledby="key-title">
        <h2 id="key-title">Public key</h2>
        <p>
          This user has no public key yet. The user’s app makes a key pair and registers the public key, with a refresh
          token of this user.
        </p>
      </section>
    );
  }
  const { state, keyID, possession, publishable_at, root, transaction, other_keys } = registered;
  const [badge, text] = STATES[state];
  return (
    <section class="card" aria-labelledby="key-title">
      <div class="card-head">
        <h2 id="key-title">
          Public key <span class={badge}>{text}</span>
        </h2>
        {state === "published" && explorerUrl !== null && (
          <a class="button" href={`${explorerUrl}#/verify/${user.user_id}`} rel="noreferrer" target="_blank">
            Verify it in the explorer
          </a>
        )}
      </div>
      {state === "pending" && (
        <p>
          {publishable_at === null
            ? "It waits for your decision, because another key was offered for this user."
            : publishable_at > Date.now() && (
                <>
                  It can be withdrawn until <Time ms={publishable_at} />. Then it is published.
                </>
              )}
        </p>
      )}
      {other_keys > 0 && (
        <p>
          <span class="badge badge-open">check</span> Another key was offered for this user. Somebody else may have a
          token of this user: find out which key is the user’s, then call <code>publicKeys/approve</code> or{" "}
          <code>publicKeys/discard</code>.
        </p>
      )}
      <dl class="facts">
        <dt>Key id, a short form of the key</dt>
        <dd>
          <Value value={keyID} name="the key id" />
        </dd>
        <dt>Proof that the user holds the private key</dt>
        <dd>{possession === "proven" ? "given at registration" : "not given"}</dd>
        {root !== null && (
          <>
            <dt>Merkle root: one hash that fixes all keys of a batch, stored on the chain</dt>
            <dd>
              <Value value={root} name="the root" />
            </dd>
          </>
        )}
        {transaction !== null && (
          <>
            <dt>Transaction that stored the root on the chain</dt>
            <dd>
              <Value value={transaction} name="the transaction" />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

interface TokensCardProps {
  userIDHex: string;
  canCreate: boolean;
  canRevoke: boolean;
}

function TokensCard({ userIDHex, canCreate, canRevoke }: TokensCardProps) {
  const body = { user_id_hex: userIDHex };
  const tokens = usePages<UserToken>("users/listTokens", "tokens", body);
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedToken>();
  const [doomed, setDoomed] = useState<UserToken>();
  const revoke = useAction(async () => {
    await call("users/revokeToken", { ...body, token_id: doomed?.token_id });
    setDoomed(undefined);
    tokens.reload();
  });
  const forget = useCallback(() => {
    setCreated(undefined);
  }, []);
  return (
    <section class="card" aria-labelledby="tokens-title">
      <div class="card-head">
        <h2 id="tokens-title">Refresh tokens</h2>
        {canCreate && (
          <button
            type="button"
            class="button button-primary"
            onClick={() => {
              setCreating(true);
            }}
          >
            Create a refresh token
          </button>
        )}
      </div>
      <p class="detail">
        The user’s app proves with a <dfn>refresh token</dfn> that it acts for this user. One for each device lets you
        revoke a single device.
      </p>
      {tokens.items && tokens.items.length > 0 && (
        <TokenList tokens={tokens.items} nameOf={contextOf} onRevoke={canRevoke ? setDoomed : undefined} />
      )}
      {tokens.items?.length === 0 && <p>There is none yet.</p>}
      <ListEnd pages={tokens} />
      {isCreating && (
        <TextDialog
          title="Create a refresh token"
          label="Context"
          hint="The device or purpose, such as “phone”."
          field="context"
          subject="The context"
          note="You verify with your passkey, then the token is shown once."
          action="Create"
          onSubmit={async (context) => {
            const token = await call<CreatedToken>("users/createToken", { ...body, context });
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
        <Secret title="The user’s new refresh token" name="the token" value={created.token} onDone={forget}>
          <p>
            Give it to the app of this user only. It is shown until you click Done, and can never be shown again: the
            service keeps no copy.
          </p>
        </Secret>
      )}
      {doomed && (
        <Confirm
          title={`Revoke ${doomed.context}?`}
          action="Revoke"
          busy={revoke.busy}
          error={revoke.error}
          onConfirm={() => void revoke.run()}
          onCancel={() => {
            setDoomed(undefined);
          }}
        >
          <p>
            The app that uses this token is signed out at once, its current access tokens included. The user’s published
            key is not affected. This cannot be undone.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function contextOf({ context }: UserToken): string {
  return context;
}
