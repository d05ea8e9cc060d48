import { useState } from "preact/hooks";
import { Command } from "../../shared/code.tsx";
import { plural } from "../../shared/text.ts";
import { call, isAdministrator, type Me, type Partner, type WebhookEndpoint, type Webhooks } from "../api.ts";
import { createWebhookCommand } from "../commands.ts";
import { CardHead, Failure, Time } from "../parts.tsx";
import { useLoaded } from "../useCall.ts";
import { EndpointDialog } from "./endpointDialog.tsx";
import { WebhookSecret } from "./webhookSecret.tsx";

/** Where the partner receives events. */
export function WebhooksPage({ me, partner }: { me: Me; partner: Partner }) {
  const { data, error, reload } = useLoaded<Webhooks>("webhooks/list");
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  return (
    <>
      <h1>Webhooks</h1>
      <p class="lead">
        A <dfn>webhook</dfn> is a request that this service sends to your server when something happens: an{" "}
        <dfn>event</dfn>, such as a published key. The address that receives it is an <dfn>endpoint</dfn>.
      </p>
      {data === undefined && (error ? <Failure error={error} retry={reload} /> : <p role="status">Loading…</p>)}
      {data && (
        <section class="card" aria-labelledby="endpoints-title">
          <CardHead
            id="endpoints-title"
            title="Endpoints"
            action={data.enabled && isAdministrator(me) ? "Add an endpoint" : undefined}
            onAction={() => {
              setAdding(true);
            }}
          />
          {!data.enabled && (
            <p>
              This service sends no webhooks: its operator has not set KEYROOT_WEBHOOK_KEYS. Read events with the API.
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
                There is no endpoint yet. Add the first one here, or with a{" "}
                <a href="#/servers">
                  <dfn>server token</dfn>
                </a>
                , a secret of your server, in the variable <code>TOKEN</code>, with the address of your server:
              </p>
              <Command command={createWebhookCommand(partner.biz_id)} />
            </div>
          )}
        </section>
      )}
      {isAdding && (
        <EndpointDialog
          title="Add an endpoint"
          note="You verify with your passkey, then the endpoint’s secret is shown once."
          action="Add"
          onSubmit={async (fields) => {
            const created = await call<WebhookEndpoint & { secret: string }>("webhooks/create", fields);
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
          <a href={`#/webhooks/${endpoint_id}`}>{url}</a>{" "}
          <span class={paused === null ? "badge badge-good" : "badge badge-off"}>
            {paused === null ? "active" : "paused"}
          </span>
        </b>
        <span class="detail">
          {types.length === 0 ? "all events" : plural(types.length, "type of event", "types of events")} · added{" "}
          <Time ms={created} />
        </span>
      </div>
    </li>
  );
}
