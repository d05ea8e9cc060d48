import { useState } from "preact/hooks";
import { plural } from "../../shared/format.ts";
import { Time } from "../../shared/time.tsx";
import { call, type Invitation, isAdministrator, type Me, type StaffMember } from "../shared/api.ts";
import { CardHead, ListEnd } from "../shared/cards.tsx";
import { Confirm } from "../shared/dialogs.tsx";
import { isSettled, type Pages, useHasHeld, usePages } from "../shared/useCall.ts";
import { InvitationSecret, InviteDialog } from "./inviteDialog.tsx";
import { PasskeysCard } from "./passkeysCard.tsx";

/** The company, its staff and the signed-in person's passkeys. The operator's staff have no company. */
export function CompanyPage({ me }: { me: Me }) {
  const { partner } = me;
  const people = usePages("/v1/dashboard/staff/list", "people");
  const hasPeople = useHasHeld(isSettled(people));
  return (
    <>
      <h1>{partner?.name ?? "People"}</h1>
      {partner === null && (
        <p class="lead">The operator’s people manage partners. They cannot change a published key.</p>
      )}
      <StaffCard me={me} people={people} />
      {hasPeople && <PasskeysCard />}
    </>
  );
}

type OpenDialog = { kind: "invite" } | { kind: "inviteAgain" | "remove" | "setRole"; member: StaffMember };

function StaffCard({ me, people }: { me: Me; people: Pages<StaffMember> }) {
  const [dialog, setDialog] = useState<OpenDialog>();
  const [invitation, setInvitation] = useState<Invitation>();
  const canChange = isAdministrator(me);
  const close = () => {
    setDialog(undefined);
  };
  const invited = (created: Invitation) => {
    close();
    setInvitation(created);
    people.reload();
  };
  return (
    <section class="card" aria-labelledby="staff-title">
      <CardHead
        id="staff-title"
        title="People"
        action={canChange ? "Invite a person" : undefined}
        onAction={() => {
          setDialog({ kind: "invite" });
        }}
      />
      {people.items && (
        <ul class="rows">
          {people.items.map((member) => (
            <StaffRow
              key={member.person_id}
              member={member}
              isSelf={member.person_id === me.person.person_id}
              open={canChange ? setDialog : undefined}
            />
          ))}
        </ul>
      )}
      <ListEnd pages={people} />
      {dialog?.kind === "invite" && (
        <InviteDialog
          title="Invite a person"
          initialRole="reader"
          invite={(person) => call("/v1/dashboard/staff/invite", person)}
          onInvited={invited}
          onCancel={close}
        />
      )}
      {dialog && dialog.kind !== "invite" && (
        <StaffDialog
          dialog={dialog}
          onInvited={invited}
          onDone={() => {
            close();
            people.reload();
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

interface RowProps {
  member: StaffMember;
  isSelf: boolean;
  open: ((dialog: OpenDialog) => void) | undefined;
}

function StaffRow({ member, isSelf, open }: RowProps) {
  const { name, role, last_sign_in, invitation_expires, passkeys } = member;
  const isInvited = invitation_expires !== null && invitation_expires > Date.now();
  const kinds = [
    ["inviteAgain", "Invite again"],
    ["setRole", role === "reader" ? "Make administrator" : "Make reader"],
    ["remove", "Remove"],
  ] as const;
  return (
    <li class="row">
      <div class="row-text">
        <b>
          {name} {isSelf && <span class="badge">you</span>}
        </b>
        <span class="detail">
          {role} · {plural(passkeys, "passkey")}
          {" · "}
          {last_sign_in === null ? "never signed in" : <>last sign-in {<Time ms={last_sign_in} />}</>}
          {isInvited && (
            <>
              {" · "}invitation until <Time ms={invitation_expires} />
            </>
          )}
          {!isInvited && passkeys === 0 && " · invitation expired"}
        </span>
      </div>
      {open && (
        <div class="buttons">
          {kinds
            .filter(([kind]) => !isSelf || kind !== "inviteAgain")
            .map(([kind, text]) => (
              <button
                key={kind}
                type="button"
                class="button button-small"
                aria-label={`${text}: ${name}`}
                onClick={() => {
                  open({ kind, member });
                }}
              >
                {text}
              </button>
            ))}
        </div>
      )}
    </li>
  );
}

interface StaffDialogProps {
  dialog: { kind: "inviteAgain" | "remove" | "setRole"; member: StaffMember };
  onInvited: (invitation: Invitation) => void;
  onDone: () => void;
  onCancel: () => void;
}

function StaffDialog({ dialog: { kind, member }, onInvited, onDone, onCancel }: StaffDialogProps) {
  const { person_id, name } = member;
  const role = member.role === "reader" ? "administrator" : "reader";
  const change = async () => {
    if (kind === "inviteAgain") {
      onInvited(await call("/v1/dashboard/staff/inviteAgain", { person_id }));
      return;
    }
    if (kind === "setRole") await call("/v1/dashboard/staff/setRole", { person_id, role });
    else await call("/v1/dashboard/staff/remove", { person_id });
    onDone();
  };
  const { title, action, text } = {
    inviteAgain: {
      title: `Invite ${name} again?`,
      action: "Invite again",
      text: "Do this if the person has lost all passkeys. All passkeys and sessions of this person end now. You get a new link.",
    },
    remove: {
      title: `Remove ${name}?`,
      action: "Remove",
      text: "All sessions and passkeys of this person end now. Tokens remain valid: revoke those that this person may know.",
    },
    setRole: {
      title: `Make ${name} ${role === "reader" ? "a reader" : "an administrator"}?`,
      action: role === "reader" ? "Make reader" : "Make administrator",
      text:
        role === "reader"
          ? "Readers see everything except secrets. They cannot change anything."
          : "Administrators can change everything. They invite and remove people.",
    },
  }[kind];
  return (
    <Confirm title={title} action={action} isDanger={kind !== "setRole"} onConfirm={change} onCancel={onCancel}>
      <p>{text}</p>
    </Confirm>
  );
}
