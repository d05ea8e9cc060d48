import { useState } from "preact/hooks";
import { Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { formatCount } from "../../shared/format.ts";
import { useSubject } from "../../shared/page.tsx";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { call, type Invitation, isAdministrator, type Me, type PartnerSummary } from "../shared/api.ts";
import { Unloaded } from "../shared/cards.tsx";
import { Confirm, TextDialog } from "../shared/dialogs.tsx";
import { useLoaded, usePages } from "../shared/useCall.ts";
import { InvitationSecret, InviteDialog } from "../staff/inviteDialog.tsx";
import { serverTokenName, TokensCard } from "../tokens/tokensCard.tsx";

/** The page of one partner: numbers, suspension, user limit, invitations and server tokens. */
export function PartnerPage({ me, bizID }: { me: Me; bizID: string }) {
  const body = { biz_id: bizID };
  const { data: partner, error, reload } = useLoaded("/v1/admin/partners/get", body);
  const canChange = isAdministrator(me);
  useSubject(partner?.name);
  return (
    <>
      <p class="back">
        <a href="#/partners">All partners</a>
      </p>
      <h1>{partner?.name ?? "Partner"}</h1>
      {partner === undefined ? (
        <Unloaded error={error} reload={reload} />
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
      <Facts isDense>
        <Fact name="Users">
          {formatCount(users)}
          {user_limit !== null && ` of at most ${formatCount(user_limit)}`}
        </Fact>
        <Fact name="Published keys">{formatCount(published_keys)}</Fact>
        <Fact name="Pending keys">{formatCount(pending_keys)}</Fact>
        <Fact name="Created">
          <Time ms={created} />
        </Fact>
        {suspended !== null && (
          <Fact name="Suspended">
            <Time ms={suspended} />
          </Fact>
        )}
        <Fact name={<Term of="business identifier">Business identifier</Term>} isWide>
          <Value value={biz_id} name="biz_id" />
        </Fact>
      </Facts>
      {dialog === "suspend" && (
        <Confirm
          title={suspended === null ? `Suspend ${name}?` : `Resume ${name}?`}
          action={suspended === null ? "Suspend" : "Resume"}
          onConfirm={async () => {
            await call(suspended === null ? "/v1/admin/partners/suspend" : "/v1/admin/partners/resume", { biz_id });
            close();
            reload();
          }}
          onCancel={close}
        >
          <p>
            {suspended === null
              ? "All tokens of this partner and its users are rejected immediately, until you resume it. Its published keys remain verifiable."
              : "Its tokens and those of its users are accepted again, except for those that were revoked."}
          </p>
        </Confirm>
      )}
      {dialog === "limit" && (
        <TextDialog
          title={`Limit the users of ${name}`}
          label="User limit (empty for no limit)"
          hint="A limit below the current number keeps all users and allows no new ones."
          field="user_limit"
          subject="The limit"
          initial={user_limit === null ? "" : String(user_limit)}
          optional
          action="Save"
          onSubmit={async (text) => {
            // The service rejects invalid text with a message for this field.
            const limit = (text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : text) as number | undefined;
            await call("/v1/admin/partners/setUserLimit", {
              biz_id,
              ...(limit !== undefined && { user_limit: limit }),
            });
            close();
            reload();
          }}
          onCancel={close}
        />
      )}
      {dialog === "invite" && (
        <InviteDialog
          title={`Invite a person of ${name}`}
          hint="If this person exists, a new link replaces all passkeys and sessions of the person."
          initialRole="administrator"
          invite={(person) => call("/v1/admin/staff/invite", { biz_id, ...person })}
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
  const tokens = usePages("/v1/admin/serverTokens/list", "tokens", { biz_id });
  return (
    <TokensCard
      title={<Term of="server token">Server tokens</Term>}
      empty={<p>There is no server token yet. The partner’s administrators create them on their Servers page.</p>}
      tokens={tokens}
      nameOf={serverTokenName}
      revocation={
        canChange
          ? {
              revoke: async (token_id) => {
                await call("/v1/admin/serverTokens/revoke", { token_id });
                reload();
              },
              effect: `The servers of ${name} that use this token stop working immediately.`,
            }
          : undefined
      }
    />
  );
}
