import { userIDToHex } from "keyroot/internal/identity";
import { Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { regionName } from "../../shared/format.ts";
import { readUserID } from "../../shared/readUserID.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { call, isAdministrator, type Me, type UserToken } from "../shared/api.ts";
import { Unloaded } from "../shared/cards.tsx";
import { isSettled, type Pages, useLoaded, usePages } from "../shared/useCall.ts";
import { TokensCard } from "../tokens/tokensCard.tsx";
import { AccountCard } from "./accountCard.tsx";
import { EndUserCard } from "./endUserCard.tsx";
import { offeredKeys, toHistory } from "./history.ts";
import { HistoryCard } from "./historyCard.tsx";
import { KeyCard } from "./keyCard.tsx";

/** Maximum number of changes in a user's history. The audit log contains the others. */
const MAX_ENTRIES = 100;

/** The page of one user: public key and refresh tokens. @param id the user id in zBase32 or hex */
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
  const body = { user_id_hex: userIDHex };
  const { data: user, ...loadedUser } = useLoaded("/v1/dashboard/users/get", body);
  const { data: key, reload, ...loadedKey } = useLoaded("/v1/authdBizSrv/publicKeys/get", body);
  const { data: audit, ...loadedAudit } = useLoaded("/v1/authdBizSrv/audit/list", { ...body, limit: MAX_ENTRIES });
  const tokens = usePages("/v1/authdBizSrv/users/listRefreshTokens", "tokens", body);
  const reloadKey = () => {
    reload();
    loadedAudit.reload();
  };
  if (user === undefined || key === undefined || audit === undefined || !isSettled(tokens)) {
    const reloadAll = () => {
      loadedUser.reload();
      reloadKey();
    };
    return <Unloaded error={loadedUser.error ?? loadedKey.error ?? loadedAudit.error} reload={reloadAll} />;
  }
  const contexts = new Map(tokens.items?.map(({ token_id, context }) => [token_id, context]));
  const history = toHistory(audit.entries, key, contexts);
  return (
    <>
      <section class="card" aria-labelledby="user-title">
        <h2 id="user-title">
          Identity {user.deactivated !== null && <span class="badge badge-off">deactivated</span>}
        </h2>
        <Facts>
          <Fact name="User id">
            <Value value={user.user_id} name="the user id" />
          </Fact>
          <Fact name="User id in hex, as your server sends it">
            <Value value={userIDHex} name="the user id in hex" />
          </Fact>
          <Fact name="Region">{regionName(user.region)}</Fact>
          <Fact name="Created">
            <Time ms={user.created} />
          </Fact>
          {user.deactivated !== null && (
            <Fact name="Deactivated">
              <Time ms={user.deactivated} />: all tokens of this user are rejected.
            </Fact>
          )}
        </Facts>
      </section>
      <KeyCard
        user={user}
        userIDHex={userIDHex}
        registered={key}
        offered={offeredKeys(key, history)}
        explorerUrl={me.explorer_url}
        blockExplorerUrl={me.block_explorer_url}
        canDecide={isAdministrator(me)}
        reload={reloadKey}
      />
      {key.number !== undefined && <AccountCard userIDHex={userIDHex} canDecide={isAdministrator(me)} />}
      <HistoryCard
        userID={user.user_id}
        items={history}
        hasMore={audit.next !== null}
        blockExplorerUrl={me.block_explorer_url}
      />
      <UserTokensCard
        tokens={{
          ...tokens,
          reload: () => {
            tokens.reload();
            loadedAudit.reload();
          },
        }}
        userIDHex={userIDHex}
        canRevoke={isAdministrator(me)}
        canCreate={isAdministrator(me) && user.deactivated === null}
      />
      {isAdministrator(me) && <EndUserCard user={user} userIDHex={userIDHex} reload={loadedUser.reload} />}
    </>
  );
}

interface UserTokensCardProps {
  tokens: Pages<UserToken>;
  userIDHex: string;
  canCreate: boolean;
  canRevoke: boolean;
}

function UserTokensCard({ tokens, userIDHex, canCreate, canRevoke }: UserTokensCardProps) {
  const body = { user_id_hex: userIDHex };
  return (
    <TokensCard
      title="Refresh tokens"
      intro={
        <p class="detail">
          Create one <Term of="refresh token" /> for each device of the user, so that you can revoke a single device.
        </p>
      }
      empty={<p>There is no refresh token yet.</p>}
      tokens={tokens}
      nameOf={contextOf}
      creation={
        canCreate
          ? {
              dialog: {
                title: "Create a refresh token",
                label: "Context",
                hint: "The device or purpose, for example “phone”.",
                field: "context",
                subject: "The context",
              },
              create: (context = "") => call("/v1/authdBizSrv/users/createRefreshToken", { ...body, context }),
              secretTitle: "The user’s new refresh token",
              advice: "Give it only to this user’s app.",
            }
          : undefined
      }
      revocation={
        canRevoke
          ? {
              revoke: (token_id) => call("/v1/authdBizSrv/users/revokeRefreshToken", { ...body, token_id }),
              effect:
                "The app that uses this token is signed out immediately. Its current access tokens are rejected. The user’s published key is not affected.",
            }
          : undefined
      }
    />
  );
}

function contextOf({ context }: UserToken): string {
  return context;
}
