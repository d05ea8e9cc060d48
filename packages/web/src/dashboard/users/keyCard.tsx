import { useState } from "preact/hooks";
import { Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { call, type ConflictingKey, type User, type UserKey } from "../shared/api.ts";
import { Confirm } from "../shared/dialogs.tsx";
import { KeyStateBadge } from "./keyStateBadge.tsx";

interface KeyCardProps {
  user: User;
  userIDHex: string;
  registered: UserKey;
  explorerUrl: string | null;
  blockExplorerUrl: string | null;
  /** Whether the person may approve and discard keys. */
  canDecide: boolean;
  reload: () => void;
}

/** A user's public key, with the key's state and conflicting keys. Lets the partner approve or discard the key. */
export function KeyCard(props: KeyCardProps) {
  const { user, userIDHex, registered, explorerUrl, blockExplorerUrl, canDecide, reload } = props;
  const { state, key_id = "", possession, root, transaction, conflicting_keys } = registered;
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
        {state === "pending" && canDecide && (
          <Decision key={key_id} userIDHex={userIDHex} registered={registered} reload={reload} />
        )}
      </div>
      {state === "pending" && user.deactivated === null && <WaitingText registered={registered} />}
      {state === "pending" && user.deactivated !== null && (
        <p>This user is deactivated, so the service never publishes the key.</p>
      )}
      {conflicting_keys.length > 0 && <ConflictingKeys keys={conflicting_keys} isPending={state === "pending"} />}
      <Facts>
        <Fact name={<Term of="key id">Key id</Term>}>
          <Value value={key_id} name="the key id" />
        </Fact>
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

function ConflictingKeys({ keys, isPending }: { keys: readonly ConflictingKey[]; isPending: boolean }) {
  return (
    <div class="notice notice-list">
      <p>
        <b>There are conflicting keys for this user.</b> The list shows their key ids. Somebody else may have a token of
        this user.
        {isPending
          ? " Ask the user which key id the app shows. Compare it with the one below."
          : " The published key below cannot change. If it is not the user’s key, revoke the user’s tokens and inform the user."}
      </p>
      <ul class="rows">
        {keys.map(({ key_id, at, withdrawn }) => (
          <li key={`${key_id} ${at}`} class="row">
            <div class="row-text">
              <code>{key_id}</code>
              <span class="detail">
                {withdrawn ? "withdrawn by the user’s app" : "rejected"} <Time ms={at} />
              </span>
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface DecisionProps {
  userIDHex: string;
  registered: UserKey;
  reload: () => void;
}

function Decision({ userIDHex, registered: { key_id = "", hold_ends_at = null }, reload }: DecisionProps) {
  const [decision, setDecision] = useState<"discard" | "approve">();
  const close = () => {
    setDecision(undefined);
    reload();
  };
  const texts = {
    discard: {
      path: "/v1/authdBizSrv/publicKeys/discard",
      title: "Discard this key?",
      action: "Discard",
      effect:
        "The key is deleted and not published. The user then has no key, and the app can register another one. If somebody else registered this key, revoke the user’s tokens first. Otherwise, that person can register it again.",
    },
    approve: {
      path: "/v1/authdBizSrv/publicKeys/approve",
      title: "Approve this key?",
      action: "Approve",
      effect:
        "The key waits and is then published permanently. All other keys of the user are rejected. Approve it only if the user’s own app shows this key id.",
    },
  } as const;
  return (
    <div class="buttons">
      {hold_ends_at === null && (
        <button
          type="button"
          class="button button-primary"
          onClick={() => {
            setDecision("approve");
          }}
        >
          Approve
        </button>
      )}
      <button
        type="button"
        class="button"
        onClick={() => {
          setDecision("discard");
        }}
      >
        Discard
      </button>
      {decision && (
        <Confirm
          title={texts[decision].title}
          action={texts[decision].action}
          onConfirm={async () => {
            await call(texts[decision].path, { user_id_hex: userIDHex, key_id });
            close();
          }}
          onCancel={close}
        >
          <p>
            Key id: <code>{key_id}</code>
          </p>
          <p>{texts[decision].effect}</p>
          <p class="detail">You verify with your passkey.</p>
        </Confirm>
      )}
    </div>
  );
}
