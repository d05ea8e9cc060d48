import { useEffect, useState } from "preact/hooks";
import favicon from "../shared/favicon.svg";
import { SkipLink, usePage } from "../shared/page.tsx";
import { go, useRoute } from "../shared/router.ts";
import { call, CallError, type Me, SIGNED_OUT } from "./api.ts";
import { AuditPage } from "./auditPage.tsx";
import { CompanyPage } from "./companyPage.tsx";
import { forgetInvitation, takeInvitation } from "./invitation.ts";
import { PartnerPage } from "./operator/partnerPage.tsx";
import { PartnersPage } from "./operator/partnersPage.tsx";
import { SystemPage } from "./operator/systemPage.tsx";
import { Failure } from "./parts.tsx";
import { PublishingPage } from "./publishingPage.tsx";
import { ServersPage } from "./serversPage.tsx";
import { FirstPasskeyPage, InvitationPage, SignInPage } from "./signInPages.tsx";
import { useAction } from "./useCall.ts";
import { UserPage } from "./userPage.tsx";
import { UsersPage } from "./usersPage.tsx";
import { WebhookPage } from "./webhooks/webhookPage.tsx";
import { WebhooksPage } from "./webhooks/webhooksPage.tsx";

/** The pages of partners' people and of the operator's, the first one first. */
const PARTNER_PAGES = {
  company: "Company",
  servers: "Servers",
  users: "Users",
  publishing: "Publishing",
  webhooks: "Webhooks",
  audit: "Audit log",
};
const OPERATOR_PAGES = { partners: "Partners", system: "System", audit: "Audit log", people: "People" };

/** The dashboard: what a person sees depends on the session first, and then on the address. */
export function App() {
  const [section, item] = useRoute();
  const token = takeInvitation();
  const [me, setMe] = useState<Me | null>();
  const [failure, setFailure] = useState<CallError>();
  const pages: Readonly<Record<string, string>> = me?.partner === null ? OPERATOR_PAGES : PARTNER_PAGES;
  const page = section !== undefined && Object.hasOwn(pages, section) ? section : (Object.keys(pages)[0] ?? "");
  const isInvited = section === "invitation";

  const load = () => {
    setFailure(undefined);
    call<Me>("session/get").then(setMe, (error: unknown) => {
      if (error instanceof CallError && error.code === "SESSION_REQUIRED") setMe(null);
      else if (error instanceof CallError) setFailure(error);
    });
  };
  useEffect(load, []);
  useEffect(() => {
    const signOut = () => {
      setMe(null);
    };
    addEventListener(SIGNED_OUT, signOut);
    return () => {
      removeEventListener(SIGNED_OUT, signOut);
    };
  }, []);
  const isInside = me !== null && me !== undefined && me.passkeys > 0 && !isInvited;
  const title = isInside ? (pages[page] ?? "") : "Sign in";
  const main = usePage(`${title} · Keyroot dashboard`, item ?? "");

  const onSignedIn = (signedIn: Me) => {
    forgetInvitation();
    setMe(signedIn);
    if (isInvited) go("");
  };
  return (
    <>
      <SkipLink main={main} />
      <header class="header">
        <a class="brand" href="#/">
          <img src={favicon} alt="" width="28" height="28" /> Keyroot{" "}
          <span>{me?.partner === null ? "operator" : "dashboard"}</span>
        </a>
        {isInside && (
          <nav aria-label="Pages">
            {Object.entries(pages).map(([name, text]) => (
              <a key={name} href={`#/${name}`} aria-current={name === page ? "page" : undefined}>
                {text}
              </a>
            ))}
          </nav>
        )}
        {me && !isInvited && <SignedIn me={me} />}
      </header>
      {/* Another element once it is loaded: what appears above would move it. */}
      <main key={me === undefined ? "loading" : "loaded"} id="main" tabIndex={-1} ref={main}>
        {isInvited ? (
          <InvitationPage token={token} onSignedIn={onSignedIn} />
        ) : failure ? (
          <>
            <h1>The dashboard did not load</h1>
            <Failure error={failure} retry={load} />
          </>
        ) : me === undefined ? (
          <p role="status">Loading…</p>
        ) : me === null ? (
          <SignInPage onSignedIn={onSignedIn} />
        ) : me.passkeys === 0 ? (
          <FirstPasskeyPage me={me} onSignedIn={onSignedIn} />
        ) : (
          <>
            {me.partner?.suspended === true && <SuspensionNotice />}
            <Page me={me} page={page} item={item} />
          </>
        )}
      </main>
      <footer class="footer">
        <p>
          <a href="../docs">API description</a> · <a href="./licenses.txt">Licenses</a>
        </p>
      </footer>
    </>
  );
}

interface PageProps {
  me: Me;
  page: string;
  /** What is shown of the page, such as the id of a user. */
  item: string | undefined;
}

function Page({ me, page, item }: PageProps) {
  const { partner } = me;
  if (partner === null) {
    if (page === "system") return <SystemPage me={me} />;
    if (page === "audit") return <AuditPage path="operator/listAudit" isOperator />;
    if (page === "people") return <CompanyPage me={me} />;
    return item === undefined ? <PartnersPage me={me} /> : <PartnerPage key={item} me={me} bizID={item} />;
  }
  if (page === "servers") return <ServersPage me={me} partner={partner} />;
  if (page === "publishing") return <PublishingPage me={me} partner={partner} />;
  if (page === "audit") return <AuditPage path="audit/list" />;
  if (page === "webhooks")
    return item === undefined ? (
      <WebhooksPage me={me} partner={partner} />
    ) : (
      <WebhookPage key={item} me={me} endpointID={item} />
    );
  if (page === "users")
    return item === undefined ? <UsersPage me={me} partner={partner} /> : <UserPage key={item} me={me} id={item} />;
  return <CompanyPage me={me} />;
}

function SuspensionNotice() {
  return (
    <p class="notice">
      The operator of the service has suspended your company: all its tokens and those of its users are refused.
      Published keys remain verifiable.
    </p>
  );
}

function SignedIn({ me }: { me: Me }) {
  const { run, busy, error } = useAction(async () => {
    await call("session/end");
    dispatchEvent(new Event(SIGNED_OUT));
  });
  return (
    <div class="signed-in">
      <span class="signed-in-name" title={me.person.name}>
        {me.person.name}
      </span>
      <button type="button" class="button" disabled={busy} onClick={() => void run()}>
        Sign out
      </button>
      <Failure error={error} />
    </div>
  );
}
