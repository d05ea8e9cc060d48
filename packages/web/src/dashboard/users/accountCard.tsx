import { useState } from "preact/hooks";
import { Time } from "../../shared/time.tsx";
import { type AccountStatement, call } from "../shared/api.ts";
import { Unloaded } from "../shared/cards.tsx";
import { Confirm } from "../shared/dialogs.tsx";
import { useLoaded } from "../shared/useCall.ts";

const STATE_TEXTS: Readonly<Record<AccountStatement["state"], string>> = {
  pending: "waits for its publication",
  submitted: "is being published",
  published: "is published",
  objected: "is not published, because somebody objected",
  taken: "failed, because another key has its slot",
  withdrawn: "was withdrawn",
};

interface AccountCardProps {
  userIDHex: string;
  /** Whether the person may object to changes and approve them. */
  canDecide: boolean;
}

/** The history of a user's account: the statements that its recovery keys signed, the newest first. */
export function AccountCard({ userIDHex, canDecide }: AccountCardProps) {
  const { data: account, reload, error } = useLoaded("/v1/authdBizSrv/accounts/get", { user_id_hex: userIDHex });
  if (account === undefined) return <Unloaded error={error} reload={reload} />;
  return (
    <section class="card" aria-labelledby="account-title">
      <h2 id="account-title">Account</h2>
      <p class="detail">
        The user can change the key with a recovery key. Number {account.number ?? 0} is the current key for all
        contacts.
      </p>
      <ul class="rows">
        {account.statements.toReversed().map((statement) => (
          <li key={`${statement.number} ${statement.key_id}`} class="row">
            <div class="row-text">
              <span>
                Number {statement.number}: <code>{statement.key_id}</code> {STATE_TEXTS[statement.state]}
              </span>
              <span class="detail">
                submitted <Time ms={statement.submitted} />
                {statement.hold_ends_at !== null && (
                  <>
                    , on hold until <Time ms={statement.hold_ends_at} />
                  </>
                )}
                {statement.published !== null && (
                  <>
                    , published <Time ms={statement.published} />
                  </>
                )}
              </span>
            </div>
            {canDecide && <Decision userIDHex={userIDHex} statement={statement} reload={reload} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface DecisionProps {
  userIDHex: string;
  statement: AccountStatement;
  reload: () => void;
}

/** The button with which an administrator objects to a change on hold, or approves one after an objection. */
function Decision({ userIDHex, statement: { number, key_id, state }, reload }: DecisionProps) {
  const [isOpen, setOpen] = useState(false);
  if (number === 0 || (state !== "pending" && state !== "objected")) return null;
  const isObjection = state === "pending";
  const action = isObjection ? "Object" : "Approve";
  const close = () => {
    setOpen(false);
  };
  return (
    <>
      <button
        type="button"
        class="button"
        onClick={() => {
          setOpen(true);
        }}
      >
        {action}
      </button>
      {isOpen && (
        <Confirm
          title={isObjection ? "Object to this change?" : "Approve this change?"}
          action={action}
          onConfirm={async () => {
            const path = isObjection ? "/v1/authdBizSrv/accounts/object" : "/v1/authdBizSrv/accounts/approve";
            await call(path, { user_id_hex: userIDHex, number, key_id });
            close();
            reload();
          }}
          onCancel={close}
        >
          <p>
            {isObjection
              ? "The key is not published. You can approve the change later."
              : "The key is published permanently with the next batch. Find out first who the owner of the account is: whoever signed this change has one of the recovery keys."}
          </p>
          <p class="detail">You verify with your passkey.</p>
        </Confirm>
      )}
    </>
  );
}
