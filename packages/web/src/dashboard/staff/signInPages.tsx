import type { ComponentChildren } from "preact";
import { call, type Me } from "../shared/api.ts";
import { addPasskey, signIn } from "./passkeys.ts";
import { Failure } from "../shared/cards.tsx";
import { useAction } from "../shared/useCall.ts";

let token: string | undefined;

/**
 * Removes an invitation's token from the address, so that the token appears neither in the history nor in a screenshot.
 * Until it is used, the page keeps it only in memory.
 */
export function takeInvitation(): string | undefined {
  const [, found] = /^#\/invitation\/([A-Za-z0-9_-]{1,64})$/.exec(location.hash) ?? [];
  if (found !== undefined) {
    token = found;
    history.replaceState(null, "", "#/invitation");
  }
  return token;
}

export function forgetInvitation(): void {
  token = undefined;
}

interface Props {
  onSignedIn: (me: Me) => void;
}

/** @param props `isExpired` is true if the person was signed out because the session ended */
export function SignInPage({ isExpired, onSignedIn }: Props & { isExpired: boolean }) {
  const { run, busy, error } = useAction(async () => {
    onSignedIn(await signIn());
  });
  return (
    <Entrance title="Sign in" action="Sign in with a passkey" busy={busy} run={run} error={error}>
      {isExpired && (
        <p class="notice" role="status">
          Your session has ended. Sign in again to continue on this page.
        </p>
      )}
      <p>
        A <dfn>passkey</dfn> replaces a password: your device proves that it is you, with your fingerprint, face or PIN.
      </p>
      <p class="detail">
        No passkey yet, or lost it? An administrator of your company, or the operator of this service, can send you an
        invitation.
      </p>
    </Entrance>
  );
}

/** Accepts an invitation after a click. Programs that preview links therefore do not use up the invitation. */
export function InvitationPage({ onSignedIn, token }: Props & { token: string | undefined }) {
  const { run, busy, error } = useAction(async () => {
    onSignedIn(await call("/v1/dashboard/invitations/accept", { token: token ?? "" }));
  });
  if (token === undefined) {
    return (
      <Entrance title="Open the link again">
        <p>This page was reloaded and no longer has the invitation’s secret. The link still works once.</p>
        <p>
          <a href="#/">Sign in with a passkey instead</a>
        </p>
      </Entrance>
    );
  }
  if (error?.code === "INVITATION_REFUSED") {
    return (
      <Entrance title="This link no longer works">
        <Failure error={error} />
        <p>
          If you have added a <dfn>passkey</dfn>, you can sign in without an invitation.
        </p>
        <p>
          <a href="#/">Sign in with a passkey instead</a>
        </p>
      </Entrance>
    );
  }
  return (
    <Entrance title="You are invited" action="Accept the invitation" busy={busy} run={run} error={error}>
      <p>
        This link signs you in once. Then you add a <dfn>passkey</dfn>. From then on, you sign in with your fingerprint,
        face or PIN instead of a password.
      </p>
    </Entrance>
  );
}

/** Adds a person's first passkey. Without a passkey, the person can do nothing else. */
export function FirstPasskeyPage({ me, onSignedIn }: Props & { me: Me }) {
  const { run, busy, error } = useAction(async () => {
    onSignedIn(await addPasskey());
  });
  return (
    <Entrance title={`Welcome, ${me.person.name}`} action="Add a passkey" busy={busy} run={run} error={error}>
      <p>
        Add a <dfn>passkey</dfn> to sign in to{" "}
        {me.partner === null ? "the operator’s pages" : `the dashboard of ${me.partner.name}`}. It replaces a password:
        your device proves that it is you, with your fingerprint, face or PIN.
      </p>
      <p class="detail">The secret part never leaves your device. You can add passkeys of other devices later.</p>
    </Entrance>
  );
}

interface EntranceProps {
  title: string;
  children: ComponentChildren;
  action?: string;
  busy?: boolean;
  run?: () => Promise<void>;
  error?: Parameters<typeof Failure>[0]["error"];
}

function Entrance({ title, children, action, busy = false, run, error }: EntranceProps) {
  return (
    <section class="card entrance">
      <h1>{title}</h1>
      {children}
      {run && (
        <button type="button" class="button button-primary" disabled={busy} onClick={() => void run()}>
          {action}
        </button>
      )}
      <Failure error={error} />
    </section>
  );
}
