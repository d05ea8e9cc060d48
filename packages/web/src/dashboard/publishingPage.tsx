import { Command, Value } from "../shared/code.tsx";
import { formatCount, plural, shorten } from "../shared/text.ts";
import type { BatchShare, Me, Partner, PendingKey, Publishing } from "./api.ts";
import { PublishingChart } from "./chart/publishingChart.tsx";
import { createUserWithTokenCommand } from "./commands.ts";
import { formatCost } from "./cost.ts";
import { Failure, ListEnd, Time } from "./parts.tsx";
import { regionName } from "./regions.ts";
import { isSettled, type Pages, useHasHeld, useLoaded, usePages } from "./useCall.ts";

/** What was published for the partner, what it cost, and what will be published. */
export function PublishingPage({ me, partner }: { me: Me; partner: Partner }) {
  const { data, error, reload } = useLoaded<Publishing>("publishing/get");
  const keys = usePages<PendingKey>("publishing/listPending", "keys");
  const isReady = useHasHeld((data ?? error) !== undefined && isSettled(keys));
  const retry = () => {
    reload();
    keys.reload();
  };
  return (
    <>
      <h1>Publishing</h1>
      <p class="lead">
        The service publishes users’ keys in <dfn>batches</dfn>: one file with many keys, and one <dfn>hash</dfn> of all
        of them, a fingerprint: the <dfn>root</dfn>. A <dfn>transaction</dfn>, an entry that is paid for, puts the root
        on the <dfn>chain</dfn>, a public ledger that grows by <dfn>blocks</dfn>. Companies share a batch, and its cost
        by their users.
      </p>
      {!isReady && <p role="status">Loading…</p>}
      {isReady && data === undefined && <Failure error={error} retry={retry} />}
      {isReady && data && (
        <>
          <HistoryCard publishing={data} partner={partner} />
          <PendingCard pending={data.pending} keys={keys} />
        </>
      )}
      {isReady && <BatchesCard explorerUrl={me.explorer_url} />}
    </>
  );
}

function HistoryCard({ publishing: { days }, partner }: { publishing: Publishing; partner: Partner }) {
  const users = days.reduce((sum, day) => sum + day.users, 0);
  const unpriced = days.reduce((sum, day) => sum + day.unpriced, 0);
  const cost = days.reduce((sum, day) => sum + BigInt(day.cost), 0n);
  return (
    <section class="card" aria-labelledby="history-title">
      <h2 id="history-title">Published so far</h2>
      {days.length === 0 ? (
        <div class="empty">
          <p>
            No key of your users is published yet. A user’s app registers a key first, with a refresh token of the user.
            Your server gets one for each device. Try it with a{" "}
            <a href="#/servers">
              <dfn>server token</dfn>
            </a>
            , a secret of your server, in the variable <code>TOKEN</code>: the commands create a user with a refresh
            token.
          </p>
          <Command command={createUserWithTokenCommand(partner.biz_id)} />
        </div>
      ) : (
        <>
          <p>
            {plural(users, "user")} with a published key. Your share of the cost: <b>{formatCost(cost)}</b>
            {unpriced > 0 && `, without ${plural(unpriced, "user")} whose cost was not recorded`}.
          </p>
          <PublishingChart days={days} />
        </>
      )}
    </section>
  );
}

interface PendingCardProps {
  pending: Publishing["pending"];
  keys: Pages<PendingKey>;
}

function PendingCard({ pending: { waiting, undecided, ready }, keys }: PendingCardProps) {
  return (
    <section class="card" aria-labelledby="pending-title">
      <h2 id="pending-title">Pending keys</h2>
      <p>
        {waiting + undecided + ready === 0 ? (
          "None. Every registered key is in a batch."
        ) : (
          <>
            {plural(ready, "key")} for the next batch, {formatCount(waiting)} in the <dfn>time to object</dfn>, in which
            apps can withdraw keys, {formatCount(undecided)} waiting for your decision.
          </>
        )}
      </p>
      {keys.items && keys.items.length > 0 && (
        <ul class="rows">
          {keys.items.map((key) => (
            <li key={key.user_id} class="row">
              <div class="row-text">
                <a href={`#/users/${key.user_id}`}>
                  <code>{key.user_id}</code>
                </a>
                <span class="detail">
                  {regionName(key.region)} · registered <Time ms={key.registered} /> · <Waiting pendingKey={key} />
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
      <ListEnd pages={keys} />
    </section>
  );
}

function Waiting({ pendingKey: { submitted, publishable_at } }: { pendingKey: PendingKey }) {
  if (submitted) return <>being published</>;
  if (publishable_at === null) return <>waits for your decision: another key was offered</>;
  if (publishable_at <= Date.now()) return <>in the next batch</>;
  return (
    <>
      can be withdrawn until <Time ms={publishable_at} />
    </>
  );
}

function BatchesCard({ explorerUrl }: { explorerUrl: string | null }) {
  const batches = usePages<BatchShare>("publishing/listBatches", "batches");
  return (
    <section class="card" aria-labelledby="batches-title">
      <h2 id="batches-title">Batches with your users</h2>
      <p class="detail">
        <dfn>Gas</dfn> is the chain’s unit of work. Gas and cost are your users’ share of the transaction.
      </p>
      {batches.items && batches.items.length > 0 && (
        <ul class="rows">
          {batches.items.map((batch) => (
            <BatchRow key={`${batch.root} ${batch.region}`} batch={batch} explorerUrl={explorerUrl} />
          ))}
        </ul>
      )}
      {batches.items?.length === 0 && <p>There is none yet.</p>}
      <ListEnd pages={batches} />
    </section>
  );
}

function BatchRow({ batch, explorerUrl }: { batch: BatchShare; explorerUrl: string | null }) {
  const { root, region, users, created, confirmed, state, transaction, block, gas, cost } = batch;
  return (
    <li class="row">
      <div class="row-text">
        <b>
          {plural(users, "user")}{" "}
          <span class={state === "published" ? "badge badge-good" : "badge badge-open"}>
            {state === "published" ? "published" : "being published"}
          </span>
        </b>
        <span class="detail">
          {regionName(region)} · <Time ms={confirmed ?? created} />
          {block !== null && ` · block ${formatCount(block)}`}
          {gas !== null && ` · ${formatCount(gas)} gas`}
          {cost !== null && ` · ${formatCost(BigInt(cost))}`}
        </span>
        <Value value={root} name="the root" />
        {transaction !== null && (
          <details>
            <summary>Transaction</summary>
            <Value value={transaction} name="the transaction" />
          </details>
        )}
      </div>
      {explorerUrl !== null && state === "published" && (
        <a
          class="button button-small"
          href={`${explorerUrl}#/batch/${root}`}
          rel="noreferrer"
          target="_blank"
          aria-label={`Open in the explorer: batch ${shorten(root)}`}
        >
          Open in the explorer
        </a>
      )}
    </li>
  );
}
