import { useState } from "preact/hooks";
import { Field } from "../../shared/field.tsx";
import { plural } from "../../shared/text.ts";
import { call, type Delivery } from "../api.ts";
import { Failure, ListEnd, Time } from "../parts.tsx";
import { useAction, usePages } from "../useCall.ts";

const STATES = {
  pending: ["badge badge-open", "waits"],
  delivered: ["badge badge-good", "received"],
  failed: ["badge badge-bad", "failed"],
} as const;

/** What was sent to an endpoint, and sending it again. */
export function DeliveriesCard({ endpointID, canChange }: { endpointID: string; canChange: boolean }) {
  const [state, setState] = useState("");
  const ofEndpoint = { endpoint_id: endpointID };
  const body = { ...ofEndpoint, ...(state !== "" && { state }) };
  const deliveries = usePages<Delivery>("webhooks/listDeliveries", "deliveries", body);
  const [queued, setQueued] = useState<number>();
  const again = useAction(async (eventID: string | undefined) => {
    setQueued(undefined);
    const path = eventID === undefined ? "webhooks/redeliverFailed" : "webhooks/redeliver";
    const which = eventID === undefined ? { since: 0 } : { event_id: eventID };
    const answer = await call<{ queued: number }>(path, { ...ofEndpoint, ...which });
    setQueued(answer.queued);
    deliveries.reload();
  });
  return (
    <section class="card" aria-labelledby="deliveries-title">
      <div class="card-head">
        <h2 id="deliveries-title">Deliveries</h2>
        <div class="buttons">
          <button type="button" class="button button-small" onClick={deliveries.reload}>
            Load again
          </button>
          {canChange && (
            <button
              type="button"
              class="button button-small"
              disabled={again.busy}
              onClick={() => void again.run(undefined)}
            >
              Send all failed ones again
            </button>
          )}
        </div>
      </div>
      <p class="detail">
        A <dfn>delivery</dfn> is one event that is sent to this endpoint. If your server does not respond with a 2xx
        status, it is sent again for three days. Then it has failed.
      </p>
      <Field label="Show">
        {(attributes) => (
          <select
            {...attributes}
            value={state}
            onChange={({ currentTarget }) => {
              setState(currentTarget.value);
            }}
          >
            <option value="">all deliveries</option>
            <option value="pending">those that wait</option>
            <option value="delivered">those that were received</option>
            <option value="failed">those that failed</option>
          </select>
        )}
      </Field>
      <div role="status">
        {queued !== undefined && <p>{plural(queued, "delivery is", "deliveries are")} sent again.</p>}
      </div>
      <Failure error={again.error} />
      {deliveries.items && deliveries.items.length > 0 && (
        <ul class="rows">
          {deliveries.items.map((delivery) => (
            <DeliveryRow
              key={delivery.event_id}
              delivery={delivery}
              onAgain={canChange ? (eventID) => void again.run(eventID) : undefined}
            />
          ))}
        </ul>
      )}
      {deliveries.items?.length === 0 && <p>There is none.</p>}
      <ListEnd pages={deliveries} />
    </section>
  );
}

interface DeliveryRowProps {
  delivery: Delivery;
  onAgain: ((eventID: string) => void) | undefined;
}

function DeliveryRow({ delivery, onAgain }: DeliveryRowProps) {
  const { event_id, type, state, attempts, created, next_attempt, status, error } = delivery;
  const [badge, text] = STATES[state];
  return (
    <li class="row">
      <div class="row-text">
        <b>
          <code>{type}</code> <span class={badge}>{text}</span>
        </b>
        <span class="detail">
          <Time ms={created} /> · {plural(attempts, "attempt")}
          {error !== null && ` · ${error}`}
          {error === null && status !== null && ` · status ${status}`}
          {next_attempt !== null && (
            <>
              {" "}
              · next attempt <Time ms={next_attempt} />
            </>
          )}
        </span>
        <code class="detail">{event_id}</code>
      </div>
      {onAgain && state !== "pending" && (
        <button
          type="button"
          class="button button-small"
          aria-label={`Send again: ${type} ${event_id}`}
          onClick={() => {
            onAgain(event_id);
          }}
        >
          Send again
        </button>
      )}
    </li>
  );
}
