import { useState } from "preact/hooks";
import { Select } from "../../shared/form.tsx";
import { plural } from "../../shared/format.ts";
import { goWith, useFields } from "../../shared/router.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { call, type Delivery } from "../shared/api.ts";
import { Failure, PagedTable } from "../shared/cards.tsx";
import { useAction, usePages } from "../shared/useCall.ts";

const STATES = {
  pending: ["badge badge-open", "waits"],
  delivered: ["badge badge-good", "received"],
  failed: ["badge badge-bad", "failed"],
} as const;

/** The deliveries to an endpoint, with buttons that send deliveries again. */
export function DeliveriesCard({ endpointID, canChange }: { endpointID: string; canChange: boolean }) {
  const wanted = useFields().get("state") ?? "";
  const state = Object.hasOwn(STATES, wanted) ? (wanted as Delivery["state"]) : "";
  const ofEndpoint = { endpoint_id: endpointID };
  const body = { ...ofEndpoint, ...(state !== "" && { state }) };
  const deliveries = usePages("/v1/authdBizSrv/webhooks/listDeliveries", "deliveries", body);
  const [queued, setQueued] = useState<number>();
  const again = useAction(async (eventID: string | undefined) => {
    setQueued(undefined);
    const answer =
      eventID === undefined
        ? await call("/v1/authdBizSrv/webhooks/redeliverFailed", { ...ofEndpoint, since: 0 })
        : await call("/v1/authdBizSrv/webhooks/redeliver", { ...ofEndpoint, event_id: eventID });
    setQueued(answer.queued);
    deliveries.reload();
  });
  return (
    <section class="card" aria-labelledby="deliveries-title">
      <div class="card-head">
        <h2 id="deliveries-title">
          <Term of="delivery">Deliveries</Term>
        </h2>
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
              Send all failed deliveries again
            </button>
          )}
        </div>
      </div>
      <div class="tools">
        <Select
          label="Show"
          value={state}
          set={(chosen) => {
            goWith(`webhooks/${endpointID}`, { state: chosen });
          }}
          options={[
            ["", "all deliveries"],
            ["pending", "waiting deliveries"],
            ["delivered", "received deliveries"],
            ["failed", "failed deliveries"],
          ]}
        />
      </div>
      <div role="status">
        {queued !== undefined && <p>{plural(queued, "delivery is", "deliveries are")} sent again.</p>}
      </div>
      <Failure error={again.error} />
      <PagedTable
        pages={deliveries}
        columns={["Event", "State", "Time", "Attempts", <span class="visually-hidden">Action</span>]}
        row={(delivery) => (
          <DeliveryRow
            key={delivery.event_id}
            delivery={delivery}
            onAgain={canChange ? (eventID) => void again.run(eventID) : undefined}
          />
        )}
        empty={<p>There are no deliveries.</p>}
      />
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
    <tr class="row">
      <td>
        <code title={event_id}>{type}</code>
      </td>
      <td>
        <span class={badge}>{text}</span>
      </td>
      <td>
        <Time ms={created} />
      </td>
      <td class="words">
        {attempts > 0 && plural(attempts, "attempt")}
        {error !== null && ` · ${error}`}
        {error === null && status !== null && ` · status ${status}`}
        {next_attempt !== null && (
          <>
            {attempts > 0 && " · "}next attempt <Time ms={next_attempt} />
          </>
        )}
      </td>
      <td>
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
      </td>
    </tr>
  );
}
