import { userIDToHex } from "keyroot/identity";
import { Value } from "../shared/code.tsx";
import { readUserID } from "../shared/userIDInput.ts";
import { call, type CreatedToken, isAdministrator, type Me, type User, type UserKey, type UserToken } from "./api.ts";
import { KeyCard } from "./keyCard.tsx";
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
      <KeyCard
        user={user}
        userIDHex={userIDHex}
        registered={key}
        explorerUrl={me.explorer_url}
        canDecide={isAdministrator(me)}
        reload={reload}
      />
      <UserTokensCard
        userIDHex={userIDHex}
        canRevoke={isAdministrator(me)}
        canCreate={isAdministrator(me) && user.deactivated === null}
      />
    </>
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
