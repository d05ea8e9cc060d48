import { useEffect, useState } from "preact/hooks";
import { shorten } from "../shared/format.ts";
import { SkipLink, usePage } from "../shared/page.tsx";
import { go, useRoute } from "../shared/router.ts";
import { useWindowEvent } from "../shared/useWindowEvent.ts";
import { call, type Me, SESSION_ENDED } from "./shared/api.ts";
import { CallError } from "./shared/send.ts";
import { AuditLogPage } from "./auditLog/auditLogPage.tsx";
import { OperatorOverviewPage } from "./overview/operatorOverviewPage.tsx";
import { OverviewPage } from "./overview/overviewPage.tsx";
import { PartnerPage } from "./partners/partnerPage.tsx";
import { PartnersPage } from "./partners/partnersPage.tsx";
import { PublishingPage } from "./publishing/publishingPage.tsx";
import { Failure } from "./shared/cards.tsx";
import { ThemeSelect } from "./shared/themeSelect.tsx";
import { Header } from "./shared/header.tsx";
import { CompanyPage } from "./staff/companyPage.tsx";
import {
  FirstPasskeyPage,
  forgetInvitation,
  InvitationPage,
  SignInPage,
  takeInvitation,
} from "./staff/signInPages.tsx";
import { ServersPage } from "./tokens/serversPage.tsx";
import { UserPage } from "./users/userPage.tsx";
import { UsersPage } from "./users/usersPage.tsx";
import { WebhookPage } from "./webhooks/webhookPage.tsx";
import { WebhooksPage } from "./webhooks/webhooksPage.tsx";

/** The titles of a partner's pages. The keys are the pages' names in the address. The first page is the start page. */
const PARTNER_PAGES = {
  overview: "Overview",
  users: "Users",
  publishing: "Publishing",
  webhooks: "Webhooks",
  servers: "Servers",
  audit: "Audit log",
  company: "Company",
};
const OPERATOR_PAGES = {
  overview: "Overview",
  partners: "Partners",
  audit: "Audit log",
  people: "People",
};

/** The pages whose addresses may continue with an id, such as a user id. */
const WITH_ITEMS = ["users", "webhooks", "partners"];

/** The dashboard: the sign-in page, or the page of the current address. */
export function App() {
  const [section, item, ...rest] = useRoute();
  const token = takeInvitation();
  const [me, setMe] = useState<Me | null>();
  const [isExpired, setExpired] = useState(false);
  const [failure, setFailure] = useState<CallError>();
  const pages: Readonly<Record<string, string>> = me?.partner === null ? OPERATOR_PAGES : PARTNER_PAGES;
  const page = section ?? Object.keys(pages)[0] ?? "";
  const isKnown = Object.hasOwn(pages, page) && (item === undefined || WITH_ITEMS.includes(page)) && rest.length === 0;
  const isInvited = section === "invitation";

  const load = () => {
    setFailure(undefined);
    call("/v1/dashboard/session/get", {}).then(setMe, (error: unknown) => {
      if (error instanceof CallError && error.code === "SESSION_REQUIRED") setMe(null);
      else if (error instanceof CallError) setFailure(error);
    });
  };
  useEffect(load, []);
  useWindowEvent(SESSION_ENDED, () => {
    setExpired(me !== null && me !== undefined);
    setMe(null);
  });
  const isInside = me !== null && me !== undefined && me.passkeys > 0 && !isInvited;
  const title = !isInside
    ? "Sign in"
    : !isKnown
      ? "No page"
      : [...(item === undefined ? [] : [shorten(item)]), pages[page]].join(" · ");
  const main = usePage(`${title} · Keyroot dashboard`, item ?? "");

  const onSignedIn = (signedIn: Me) => {
    forgetInvitation();
    setMe(signedIn);
    if (isInvited) go("");
  };
  return (
    <>
      <SkipLink main={main} />
      <Header
        me={isInvited ? undefined : me}
        pages={isInside ? pages : undefined}
        page={page}
        onSignedOut={() => {
          setExpired(false);
          setMe(null);
        }}
      />
      {/* The key creates a new element after loading. Otherwise, the navigation would move this element. */}
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
          <SignInPage isExpired={isExpired} onSignedIn={onSignedIn} />
        ) : me.passkeys === 0 ? (
          <FirstPasskeyPage me={me} onSignedIn={onSignedIn} />
        ) : (
          <>
            {me.partner?.suspended === true && <SuspensionNotice />}
            {isKnown ? <Page me={me} page={page} item={item} /> : <NoPage />}
          </>
        )}
      </main>
      <footer class="footer">
        <p>
          <a href="../docs">API reference</a> · <a href="./licenses.txt">Licenses</a> · Times are in the time zone{" "}
          {Intl.DateTimeFormat().resolvedOptions().timeZone}.
        </p>
        <ThemeSelect />
      </footer>
    </>
  );
}

function NoPage() {
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        The address may be incomplete. <a href="#/">Open the overview</a>.
      </p>
    </>
  );
}

interface PageProps {
  me: Me;
  page: string;
  /** The id in the address, such as a user id. */
  item: string | undefined;
}

function Page({ me, page, item }: PageProps) {
  const { partner } = me;
  if (partner === null) {
    if (page === "audit") return <AuditLogPage path="/v1/admin/audit/list" isOperator />;
    if (page === "people") return <CompanyPage me={me} />;
    if (page === "partners")
      return item === undefined ? <PartnersPage me={me} /> : <PartnerPage key={item} me={me} bizID={item} />;
    return <OperatorOverviewPage me={me} />;
  }
  if (page === "servers") return <ServersPage me={me} partner={partner} />;
  if (page === "publishing") return <PublishingPage me={me} partner={partner} />;
  if (page === "audit") return <AuditLogPage path="/v1/authdBizSrv/audit/list" />;
  if (page === "webhooks")
    return item === undefined ? (
      <WebhooksPage me={me} partner={partner} />
    ) : (
      <WebhookPage key={item} me={me} endpointID={item} />
    );
  if (page === "users")
    return item === undefined ? <UsersPage me={me} partner={partner} /> : <UserPage key={item} me={me} id={item} />;
  return page === "company" ? <CompanyPage me={me} /> : <OverviewPage me={me} />;
}

function SuspensionNotice() {
  return (
    <p class="notice">
      The operator of the service has suspended your company. All tokens of your company and its users are rejected.
      Published keys remain verifiable.
    </p>
  );
}
