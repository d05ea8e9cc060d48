import { userIDToHex } from "keyroot/identity";
import { Value } from "../shared/code.tsx";
import { readUserID } from "../shared/userIDInput.ts";
import { call, type CreatedToken, isAdministrator, type Me, type User, type UserKey, type UserToken } from "./api.ts";
import { Failure, Time } from "./parts.tsx";
import { regionName } from "./regions.ts";
import { TokensCard } from "./tokensCard.tsx";
import { useLoaded, usePages } from "./useCall.ts";

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
      <UserTokensCard
        userIDHex={userIDHex}
        canRevoke={isAdministrator(me)}
        canCreate={isAdministrator(me) && user.deactivated === null}
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

interface UserTokensCardProps {
  userIDHex: string;
  canCreate: boolean;
  canRevoke: boolean;
}

function UserTokensCard({ userIDHex, canCreate, canRevoke }: UserTokensCardProps) {
  const body = { user_id_hex: userIDHex };
  const tokens = usePages<UserToken>("users/listTokens", "tokens", body);
  return (
    <TokensCard
      title="Refresh tokens"
      intro={
        <p class="detail">
          The user’s app proves with a <dfn>refresh token</dfn> that it acts for this user. One for each device lets you
          revoke a single device.
        </p>
      }
      empty={<p>There is none yet.</p>}
      tokens={tokens}
      nameOf={contextOf}
      creation={
        canCreate
          ? {
              dialog: {
                title: "Create a refresh token",
                label: "Context",
                hint: "The device or purpose, such as “phone”.",
                field: "context",
                subject: "The context",
              },
              create: (context) => call<CreatedToken>("users/createToken", { ...body, context }),
              secretTitle: "The user’s new refresh token",
              advice: "Give it to the app of this user only.",
            }
          : undefined
      }
      revocation={
        canRevoke
          ? {
              revoke: (token_id) => call("users/revokeToken", { ...body, token_id }),
              effect:
                "The app that uses this token is signed out at once, its current access tokens included. The user’s published key is not affected.",
            }
          : undefined
      }
    />
  );
}

function contextOf({ context }: UserToken): string {
  return context;
}
