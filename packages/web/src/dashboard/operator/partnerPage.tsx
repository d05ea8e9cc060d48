import { useState } from "preact/hooks";
import { Value } from "../../shared/code.tsx";
import { call, type Invitation, isAdministrator, type Me, type PartnerSummary, type ServerToken } from "../api.ts";
import { InvitationSecret, InviteDialog } from "../inviteDialog.tsx";
import { Confirm, Failure, Time } from "../parts.tsx";
import { TextDialog } from "../textDialog.tsx";
import { serverTokenName } from "../tokenList.tsx";
import { TokensCard } from "../tokensCard.tsx";
import { useAction, useLoaded, usePages } from "../useCall.ts";
import { formatCount } from "../../shared/text.ts";

/** One partner: numbers, suspension, user limit, people and server tokens. */
export function PartnerPage({ me, bizID }: { me: Me; bizID: string }) {
  const body = { biz_id: bizID };
  const { data: partner, error, reload } = useLoaded<PartnerSummary>("operator/getPartner", body);
  const canChange = isAdministrator(me);
  return (
    <>
      <p class="back">
        <a href="#/partners">All partners</a>
      </p>
      <h1>{partner?.name ?? "Partner"}</h1>
      {partner === undefined ? (
        error ? (
          <Failure error={error} retry={reload} />
        ) : (
          <p role="status">Loading…</p>
        )
      ) : (
        <>
          <NumbersCard partner={partner} canChange={canChange} reload={reload} />
          <ServerTokensCard partner={partner} canChange={canChange} reload={reload} />
        </>
      )}
    </>
  );
}

interface CardProps {
  partner: PartnerSummary;
  canChange: boolean;
  reload: () => void;
}

type OpenDialog = "suspend" | "limit" | "invite";

function NumbersCard({ partner, canChange, reload }: CardProps) {
  const { biz_id, name, created, suspended, user_limit, users, pending_keys, published_keys } = partner;
  const [dialog, setDialog] = useState<OpenDialog>();
  const [invitation, setInvitation] = useState<Invitation>();
  const close = () => {
    setDialog(undefined);
  };
  const toggle = useAction(async () => {
    await call(suspended === null ? "operator/suspendPartner" : "operator/resumePartner", { biz_id });
    close();
    reload();
  });
  const actions = [
    ["invite", "Invite a person"],
    ["limit", "Limit users"],
    ["suspend", suspended === null ? "Suspend" : "Resume"],
  ] as const;
  return (
    <section class="card" aria-labelledby="numbers-title">
      <div class="card-head">
        <h2 id="numbers-title">Company {suspended !== null && <span class="badge badge-off">suspended</span>}</h2>
        {canChange && (
          <div class="buttons">
            {actions.map(([kind, text]) => (
              <button
                key={kind}
                type="button"
                class="button button-small"
                onClick={() => {
                  setDialog(kind);
                }}
              >
                {text}
              </button>
            ))}
          </div>
        )}
      </div>
      <dl class="facts facts-columns">
        <div>
          <dt>Users</dt>
          <dd>
            {formatCount(users)}
            {user_limit !== null && ` of at most ${formatCount(user_limit)}`}
          </dd>
        </div>
        <div>
          <dt>Published keys</dt>
          <dd>{formatCount(published_keys)}</dd>
        </div>
        <div>
          <dt>Pending keys</dt>
          <dd>{formatCount(pending_keys)}</dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Time ms={created} />
          </dd>
        </div>
        {suspended !== null && (
          <div>
            <dt>Suspended</dt>
            <dd>
              <Time ms={suspended} />
            </dd>
          </div>
        )}
      </dl>
      <dl class="facts">
        <dt>
          <dfn>Business identifier</dfn>, which the partner’s servers send as <code>biz_id</code>
        </dt>
        <dd>
          <Value value={biz_id} name="biz_id" />
        </dd>
      </dl>
      {dialog === "suspend" && (
        <Confirm
          title={suspended === null ? `Suspend ${name}?` : `Resume ${name}?`}
          action={suspended === null ? "Suspend" : "Resume"}
          busy={toggle.busy}
          error={toggle.error}
          onConfirm={() => void toggle.run()}
          onCancel={close}
        >
          <p>
            {suspended === null
              ? "All tokens of this partner and of its users are refused at once, until you resume it. Its published keys remain verifiable."
              : "Its tokens and those of its users are accepted again, except for those that were revoked."}
          </p>
        </Confirm>
      )}
      {dialog === "limit" && (
        <TextDialog
          title={`Limit the users of ${name}`}
          label="The most users (empty for no limit)"
          hint="A limit below the present number keeps the users, and permits no new ones."
          field="user_limit"
          subject="The limit"
          initial={user_limit === null ? "" : String(user_limit)}
          optional
          action="Save"
          onSubmit={async (text) => {
            // What is not a number is refused by the service, with a message beside the field.
            const limit = text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : text;
            await call("operator/setUserLimit", { biz_id, ...(limit !== undefined && { user_limit: limit }) });
            close();
            reload();
          }}
          onCancel={close}
        />
      )}
      {dialog === "invite" && (
        <InviteDialog
          title={`Invite a person of ${name}`}
          hint="A person with this name gets a new link, and all passkeys and sessions of that person end."
          initialRole="administrator"
          invite={(person) => call<Invitation>("operator/inviteStaff", { biz_id, ...person })}
          onInvited={(created) => {
            close();
            setInvitation(created);
          }}
          onCancel={close}
        />
      )}
      {invitation && (
        <InvitationSecret
          invitation={invitation}
          onDone={() => {
            setInvitation(undefined);
          }}
        />
      )}
    </section>
  );
}

function ServerTokensCard({ partner: { biz_id, name }, canChange, reload }: CardProps) {
  const tokens = usePages<ServerToken>("operator/listServerTokens", "tokens", { biz_id });
  return (
    <TokensCard
      title="Server tokens"
      intro={
        <p class="detail">
          The partner’s servers prove who they are with a <dfn>server token</dfn>, a secret that never expires.
        </p>
      }
      empty={<p>There is none yet. The partner’s administrators create them on their Servers page.</p>}
      tokens={tokens}
      nameOf={serverTokenName}
      revocation={
        canChange
          ? {
              revoke: async (token_id) => {
                await call("operator/revokeServerToken", { token_id });
                reload();
              },
              effect: `The servers of ${name} that use this token stop working at once.`,
            }
          : undefined
      }
    />
  );
}
