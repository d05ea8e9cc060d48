import { useState } from "preact/hooks";
import { Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { useSubject } from "../../shared/page.tsx";
import { go } from "../../shared/router.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { call, isAdministrator, type Me, type WebhookEndpoint, type WebhookTest } from "../shared/api.ts";
import { ActiveBadge, Failure, Unloaded } from "../shared/cards.tsx";
import { Confirm } from "../shared/dialogs.tsx";
import { useAction, useLoaded } from "../shared/useCall.ts";
import { DeliveriesCard } from "./deliveriesCard.tsx";
import { EndpointDialog, WebhookSecret } from "./endpointDialog.tsx";

/** The page of one endpoint: state, test, secret and deliveries. */
export function WebhookPage({ me, endpointID }: { me: Me; endpointID: string }) {
  const { data, error, reload } = useLoaded("/v1/authdBizSrv/webhooks/list", {});
  const endpoint = data?.endpoints.find(({ endpoint_id }) => endpoint_id === endpointID);
  const canChange = isAdministrator(me);
  useSubject(endpoint && new URL(endpoint.url).host);
  return (
    <>
      <p class="back">
        <a href="#/webhooks">All endpoints</a>
      </p>
      <h1>
        <Term of="webhook endpoint">Webhook endpoint</Term>
      </h1>
      {data === undefined && <Unloaded error={error} reload={reload} />}
      {data && endpoint === undefined && <p role="alert">Your company has no such endpoint.</p>}
      {endpoint && (
        <>
          <EndpointCard endpoint={endpoint} canChange={canChange} reload={reload} />
          <DeliveriesCard endpointID={endpointID} canChange={canChange} />
        </>
      )}
    </>
  );
}

interface EndpointCardProps {
  endpoint: WebhookEndpoint;
  canChange: boolean;
  reload: () => void;
}

type OpenDialog = "edit" | "rotate" | "delete";

function EndpointCard({ endpoint, canChange, reload }: EndpointCardProps) {
  const { endpoint_id, url, types, created, paused } = endpoint;
  const [dialog, setDialog] = useState<OpenDialog>();
  const [secret, setSecret] = useState<string>();
  const [tested, setTested] = useState<WebhookTest>();
  const close = () => {
    setDialog(undefined);
  };
  const open = (opened: OpenDialog) => () => {
    setDialog(opened);
  };
  const test = useAction(async () => {
    setTested(undefined);
    setTested(await call("/v1/authdBizSrv/webhooks/test", { endpoint_id }));
  });
  const toggle = useAction(async () => {
    await call(paused === null ? "/v1/authdBizSrv/webhooks/pause" : "/v1/authdBizSrv/webhooks/resume", { endpoint_id });
    reload();
  });
  const buttons = [
    ["Send a test", () => void test.run(), test.busy],
    [paused === null ? "Pause" : "Resume", () => void toggle.run(), toggle.busy],
    ["Edit", open("edit"), false],
    ["New secret", open("rotate"), false],
    ["Delete", open("delete"), false],
  ] as const;
  const confirmations = {
    rotate: {
      title: "Make a new secret?",
      action: "Make a new secret",
      text: "It is shown once. For 24 hours, requests are signed with the new and the previous secret, then with the new one only. Your server should accept both until then. You confirm with your passkey.",
      act: async () => {
        const made = await call("/v1/authdBizSrv/webhooks/rotateSecret", { endpoint_id });
        close();
        setSecret(made.secret);
      },
    },
    delete: {
      title: "Delete this endpoint?",
      action: "Delete",
      text: "It receives no more events, and its waiting deliveries are deleted. Your server can still read events with the API. You cannot undo this.",
      act: async () => {
        await call("/v1/authdBizSrv/webhooks/delete", { endpoint_id });
        go("webhooks");
      },
    },
  };
  return (
    <section class="card" aria-labelledby="endpoint-title">
      <div class="card-head">
        <h2 id="endpoint-title">
          Settings <ActiveBadge isActive={paused === null} ended="paused" />
        </h2>
        {canChange && (
          <div class="buttons">
            {buttons.map(([text, act, busy]) => (
              <button key={text} type="button" class="button button-small" disabled={busy} onClick={act}>
                {text}
              </button>
            ))}
          </div>
        )}
      </div>
      <Facts>
        <Fact name="URL" isWide>
          <Value value={url} name="the URL" />
        </Fact>
        <Fact name={<Term of="event">Events</Term>}>{types.length === 0 ? "all" : types.join(", ")}</Fact>
        <Fact name="Added">
          <Time ms={created} />
        </Fact>
        {paused !== null && (
          <Fact name="Paused">
            <Time ms={paused} />: events wait, and are sent when you resume it.
          </Fact>
        )}
      </Facts>
      <div role="status">
        {test.busy && <p>Waiting for your server, at most 8 seconds…</p>}
        {tested && <TestResult tested={tested} />}
      </div>
      <Failure error={test.error ?? toggle.error} />
      {dialog === "edit" && (
        <EndpointDialog
          title="Edit the endpoint"
          initial={{ url, types }}
          note="Waiting deliveries go to the new URL. You confirm with your passkey."
          action="Save"
          onSubmit={async (fields) => {
            await call("/v1/authdBizSrv/webhooks/update", { endpoint_id, ...fields });
            close();
            reload();
          }}
          onCancel={close}
        />
      )}
      {dialog !== undefined && dialog !== "edit" && (
        <Confirm
          title={confirmations[dialog].title}
          action={confirmations[dialog].action}
          isDanger={dialog === "delete"}
          onConfirm={confirmations[dialog].act}
          onCancel={close}
        >
          <p>{confirmations[dialog].text}</p>
        </Confirm>
      )}
      {secret !== undefined && <WebhookSecret secret={secret} setSecret={setSecret} />}
    </section>
  );
}

function TestResult({ tested: { delivered, status, error, duration } }: { tested: WebhookTest }) {
  return (
    <p>
      <span class={delivered ? "badge badge-good" : "badge badge-bad"}>
        {delivered ? "test received" : "test failed"}
      </span>{" "}
      {error ?? `Your server responded with status ${status ?? ""}.`} It took {duration.toLocaleString("en")} ms.
    </p>
  );
}
