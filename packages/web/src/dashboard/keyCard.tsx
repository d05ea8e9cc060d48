import { useState } from "preact/hooks";
import { Value } from "../shared/code.tsx";
import { call, type OtherKey, type User, type UserKey } from "./api.ts";
import { Confirm, Time } from "./parts.tsx";
import { useAction } from "./useCall.ts";

interface KeyCardProps {
  user: User;
  userIDHex: string;
  registered: UserKey | null;
  explorerUrl: string | null;
  /** Whether the person may discard and approve keys. */
  canDecide: boolean;
  reload: () => void;
}

const STATES = {
  pending: ["badge badge-open", "registered, not published yet"],
  submitted: ["badge badge-open", "being published"],
  published: ["badge badge-good", "published"],
} as const;

/** A user's public key: its state, other keys that were offered, and what the partner can decide while it is pending. */
export function KeyCard({ user, userIDHex, registered, explorerUrl, canDecide, reload }: KeyCardProps) {
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
  const { state, keyID, possession, root, transaction, other_keys } = registered;
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
        {state === "pending" && canDecide && (
          <Decision key={keyID} userIDHex={userIDHex} registered={registered} reload={reload} />
        )}
      </div>
      <p class="detail">
        Contacts use the <dfn>public key</dfn> to encrypt for this user. Once it is published on the <dfn>chain</dfn>, a
        public ledger, it cannot change.
      </p>
      {state === "pending" && <WaitingText registered={registered} />}
      {other_keys.length > 0 && <OtherKeys keys={other_keys} isPending={state === "pending"} />}
      <dl class="facts">
        <dt>
          <dfn>Key id</dfn>, a short form of the key
        </dt>
        <dd>
          <Value value={keyID} name="the key id" />
        </dd>
        <dt>
          <dfn>Proof</dfn> that the user holds the private key
        </dt>
        <dd>{possession === "proven" ? "given at registration" : "not given"}</dd>
        {root !== null && (
          <>
            <dt>
              <dfn>Merkle root</dfn>: a fingerprint of all keys that were published together
            </dt>
            <dd>
              <Value value={root} name="the root" />
            </dd>
          </>
        )}
        {transaction !== null && (
          <>
            <dt>
              <dfn>Transaction</dfn>, the entry on the chain that stored the root
            </dt>
            <dd>
              <Value value={transaction} name="the transaction" />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function WaitingText({ registered: { publishable_at } }: { registered: UserKey }) {
  if (publishable_at === null)
    return (
      <p>It waits for your decision, because another key was offered for this user. Until then it is not published.</p>
    );
  if (publishable_at <= Date.now()) return <p>Its time to object is over: the next batch publishes it, permanently.</p>;
  return (
    <p>
      Its <dfn>time to object</dfn>, in which the user’s app can withdraw the key and you can discard it, ends{" "}
      <Time ms={publishable_at} />. Then it is published, permanently.
    </p>
  );
}

function OtherKeys({ keys, isPending }: { keys: readonly OtherKey[]; isPending: boolean }) {
  return (
    <div class="notice notice-list">
      <p>
        <b>Other keys were offered for this user.</b> The list has their <dfn>key ids</dfn>, short forms of the keys.
        Somebody else may have a token of this user.
        {isPending
          ? " Ask the user which key id the app shows, and compare it with the one below."
          : " The key below cannot change any more: if it is not the user’s, revoke the user’s tokens and tell the user."}
      </p>
      <ul class="rows">
        {keys.map(({ keyID, offered, withdrawn }) => (
          <li key={`${keyID} ${offered}`} class="row">
            <div class="row-text">
              <code>{keyID}</code>
              <span class="detail">
                {withdrawn ? "withdrawn by the user’s app" : "offered and refused"} <Time ms={offered} />
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

function Decision({ userIDHex, registered: { keyID, publishable_at }, reload }: DecisionProps) {
  const [decision, setDecision] = useState<"discard" | "approve">();
  const close = () => {
    setDecision(undefined);
    reload();
  };
  const decide = useAction(async () => {
    await call(decision === "approve" ? "users/approveKey" : "users/discardKey", { user_id_hex: userIDHex, keyID });
    close();
  });
  const texts: Record<"discard" | "approve", { title: string; action: string; effect: string }> = {
    discard: {
      title: "Discard this key?",
      action: "Discard",
      effect:
        "The key is deleted and not published. The user then has no key, and the app can register another one. If somebody else registered this key, revoke the user’s tokens first: otherwise they can register it again.",
    },
    approve: {
      title: "Approve this key?",
      action: "Approve",
      effect:
        "The key is published permanently, although other keys were offered, once the app can no longer withdraw it. Approve it only if the user’s own app shows this key id.",
    },
  };
  return (
    <div class="buttons">
      {publishable_at === null && (
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
          busy={decide.busy}
          error={decide.error}
          onConfirm={() => void decide.run()}
          onCancel={close}
        >
          <p>
            <dfn>Key id</dfn>, a short form of the key: <code>{keyID}</code>
          </p>
          <p>{texts[decision].effect}</p>
          <p class="detail">You verify with your passkey.</p>
        </Confirm>
      )}
    </div>
  );
}
