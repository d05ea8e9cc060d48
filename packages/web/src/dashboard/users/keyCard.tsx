import { Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import type { User, UserKey } from "../shared/api.ts";
import { DiscardButton } from "./discardButton.tsx";
import type { OfferedKey } from "./history.ts";
import { KeyDecision, OfferedKeys } from "./keyDecision.tsx";
import { KeyStateBadge } from "./keyStateBadge.tsx";

interface KeyCardProps {
  user: User;
  userIDHex: string;
  registered: UserKey;
  /** The user's own key and the conflicting keys. */
  offered: readonly OfferedKey[];
  explorerUrl: string | null;
  blockExplorerUrl: string | null;
  /** Whether the person may approve and discard keys. */
  canDecide: boolean;
  reload: () => void;
}

/** A user's public key, with the key's state and conflicting keys. Lets the partner approve or discard the key. */
export function KeyCard(props: KeyCardProps) {
  const { user, userIDHex, registered, offered, explorerUrl, blockExplorerUrl, canDecide, reload } = props;
  const { state, key_id = "", possession, root, transaction, conflicting_keys, hold_ends_at } = registered;
  const isUndecided = state === "pending" && user.deactivated === null && hold_ends_at === null;
  if (state === "unregistered") {
    return (
      <section class="card" aria-labelledby="key-title">
        <h2 id="key-title">
          <Term of="public key">Public key</Term> <KeyStateBadge state="unregistered" />
        </h2>
        <p>This user has no public key yet. The user’s app registers one, with a refresh token of this user.</p>
      </section>
    );
  }
  return (
    <section class="card" aria-labelledby="key-title">
      <div class="card-head">
        <h2 id="key-title">
          <Term of="public key">Public key</Term> <KeyStateBadge state={listedState(registered, user)} />
        </h2>
        {state === "published" && explorerUrl !== null && (
          <a class="button" href={`${explorerUrl}#/verify/${user.user_id}`} rel="noreferrer" target="_blank">
            Verify it in the explorer
          </a>
        )}
        {state === "pending" && canDecide && !isUndecided && (
          <DiscardButton key={key_id} userIDHex={userIDHex} keyID={key_id} reload={reload} />
        )}
      </div>
      {state === "pending" && user.deactivated === null && <WaitingText registered={registered} />}
      {state === "pending" && user.deactivated !== null && (
        <p>This user is deactivated, so the service never publishes the key.</p>
      )}
      {conflicting_keys.length > 0 && (
        <>
          <p>
            <b>There are conflicting keys for this user.</b> Somebody else may have a token of this user. The keys are
            listed with their <Term of="key id">key ids</Term>.
            {state !== "pending" &&
              " The published key cannot change. If it is not the user’s key, revoke the user’s tokens and inform the user."}
          </p>
          <OfferedKeys keys={offered} />
        </>
      )}
      {isUndecided && canDecide && <KeyDecision key={key_id} userIDHex={userIDHex} keys={offered} reload={reload} />}
      <Facts>
        {conflicting_keys.length === 0 && (
          <Fact name={<Term of="key id">Key id</Term>}>
            <Value value={key_id} name="the key id" />
          </Fact>
        )}
        <Fact name="Possession of the private key">
          {possession === "proven" ? "proven at registration" : "not proven"}
        </Fact>
        {root !== undefined && (
          <Fact
            name={
              <>
                Merkle <Term of="root" />
              </>
            }
            isWide
          >
            <Value value={root} name="the root" />
          </Fact>
        )}
        {transaction !== undefined && (
          <Fact name={<Term of="transaction">Transaction</Term>} isWide>
            <Value
              value={transaction}
              name="the transaction"
              href={blockExplorerUrl === null ? undefined : `${blockExplorerUrl}/tx/${transaction}`}
            />
          </Fact>
        )}
      </Facts>
      {state === "published" && (
        <p class="detail">
          The state is this service’s own, from one <Term of="endpoint" />. A verification checks it against the{" "}
          <Term of="chain" />.
        </p>
      )}
    </section>
  );
}

/** The state of a key in the words of the user list. */
function listedState({ state, hold_ends_at = null }: UserKey, { deactivated }: User) {
  if (state !== "pending") return state;
  if (deactivated !== null) return "blocked" as const;
  if (hold_ends_at === null) return "undecided" as const;
  return hold_ends_at > Date.now() ? ("waiting" as const) : ("ready" as const);
}

function WaitingText({ registered: { hold_ends_at = null } }: { registered: UserKey }) {
  if (hold_ends_at === null)
    return (
      <p>
        It is not published until you decide, because there is a <Term of="conflicting key" />.
      </p>
    );
  if (hold_ends_at <= Date.now()) return <p>Its hold period is over. The next batch publishes it permanently.</p>;
  return (
    <p>
      Its <Term of="hold period" /> ends <Time ms={hold_ends_at} />. Until then, the user’s app can withdraw the key,
      and you can discard it. Then it is published permanently.
    </p>
  );
}
