import { useState } from "preact/hooks";
import { Command } from "../../shared/copyable.tsx";
import { plural } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { call, isAdministrator, type Me, type Partner, type WebhookEndpoint } from "../shared/api.ts";
import { ActiveBadge, CardHead, Unloaded } from "../shared/cards.tsx";
import { createWebhookCommand } from "../shared/exampleCommands.ts";
import { useLoaded } from "../shared/useCall.ts";
import { EndpointDialog, WebhookSecret } from "./endpointDialog.tsx";

/** The list of endpoints that receive the partner's events. */
export function WebhooksPage({ me, partner }: { me: Me; partner: Partner }) {
  const { data, error, reload } = useLoaded("/v1/authdBizSrv/webhooks/list", {});
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  return (
    <>
      <h1>
        <Term of="webhook">Webhooks</Term>
      </h1>
      {data === undefined && <Unloaded error={error} reload={reload} />}
      {data && (
        <section class="card" aria-labelledby="endpoints-title">
          <CardHead
            id="endpoints-title"
            title={
              <>
                <Term of="webhook endpoint">Endpoints</Term> that receive <Term of="event">events</Term>
              </>
            }
            action={data.enabled && isAdministrator(me) ? "Add an endpoint" : undefined}
            onAction={() => {
              setAdding(true);
            }}
          />
          {!data.enabled && (
            <p>
              This service sends no webhooks, because its operator has not set KEYROOT_WEBHOOK_KEYS. You can read{" "}
              <Term of="event">events</Term>
              with the API.
            </p>
          )}
          {data.endpoints.length > 0 && (
            <ul class="rows">
              {data.endpoints.map((endpoint) => (
                <EndpointRow key={endpoint.endpoint_id} endpoint={endpoint} />
              ))}
            </ul>
          )}
          {data.enabled && data.endpoints.length === 0 && (
            <div class="empty">
              <p>
                There is no endpoint yet. Add the first one here. To add it with the API, put a{" "}
                <Term of="server token" /> in the variable <code>TOKEN</code>. <a href="#/servers">Create one</a> first.
                Replace the URL by your server’s:
              </p>
              <Command command={createWebhookCommand(partner.biz_id)} />
            </div>
          )}
        </section>
      )}
      {isAdding && (
        <EndpointDialog
          title="Add an endpoint"
          note="You confirm with your passkey. Then the endpoint’s secret is shown once."
          action="Add"
          onSubmit={async (fields) => {
            const created = await call("/v1/authdBizSrv/webhooks/create", fields);
            setAdding(false);
            setSecret(created.secret);
            reload();
          }}
          onCancel={() => {
            setAdding(false);
          }}
        />
      )}
      {secret !== undefined && <WebhookSecret secret={secret} setSecret={setSecret} />}
    </>
  );
}

function EndpointRow({ endpoint: { endpoint_id, url, types, created, paused } }: { endpoint: WebhookEndpoint }) {
  return (
    <li class="row">
      <div class="row-text">
        <b>
          <a href={`#/webhooks/${endpoint_id}`}>{url}</a> <ActiveBadge isActive={paused === null} ended="paused" />
        </b>
        <span class="detail">
          {types.length === 0 ? "all events" : plural(types.length, "type of event", "types of events")} · added{" "}
          <Time ms={created} />
        </span>
      </div>
    </li>
  );
}
