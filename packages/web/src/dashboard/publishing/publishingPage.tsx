import { Command, ShortValue } from "../../shared/copyable.tsx";
import { formatCost, formatCount, plural, regionName } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import type { BatchShare, Me, Partner, Publishing } from "../shared/api.ts";
import { Numbers } from "../overview/numbers.tsx";
import { Failure, PagedTable } from "../shared/cards.tsx";
import { ExportButtons } from "../shared/exportButtons.tsx";
import { timeInCsv, toCsv } from "../../shared/csv.ts";
import { createUserWithTokenCommand } from "../shared/exampleCommands.ts";
import { useHasHeld, useLoaded, usePages } from "../shared/useCall.ts";
import { KeyStateBadge } from "../users/keyStateBadge.tsx";
import { DaysTable, PublishingChart } from "./publishingChart.tsx";

/** The partner's published keys with their cost, and the partner's pending keys. */
export function PublishingPage({ me, partner }: { me: Me; partner: Partner }) {
  const { data, error, reload } = useLoaded("/v1/dashboard/publishing/get", {});
  const isReady = useHasHeld((data ?? error) !== undefined);
  return (
    <>
      <h1>Publishing</h1>
      {!isReady && <p role="status">Loading…</p>}
      {isReady && data === undefined && <Failure error={error} retry={reload} />}
      {isReady && data && (
        <>
          <HistoryCard publishing={data} partner={partner} />
          <PendingCard pending={data.pending} />
        </>
      )}
      {isReady && <BatchesCard me={me} />}
    </>
  );
}

/** Minimum number of days for a chart. Fewer days are shown as a table. */
const MIN_CHART_DAYS = 3;

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
            No key of your users is published yet. A user’s app registers a key first, with a{" "}
            <Term of="refresh token" /> of the user. To try it, put a <Term of="server token" /> in the variable{" "}
            <code>TOKEN</code>. <a href="#/servers">Create one</a> first.
          </p>
          <Command command={createUserWithTokenCommand(partner.biz_id)} />
        </div>
      ) : (
        <>
          <p>
            {plural(users, "user")} with a published key. Your share of the cost: <b>{formatCost(cost)}</b>
            {unpriced > 0 && `, without ${plural(unpriced, "user")} whose cost was not recorded`}.
          </p>
          {days.length < MIN_CHART_DAYS ? <DaysTable days={days} /> : <PublishingChart days={days} />}
        </>
      )}
    </section>
  );
}

/** The numbers of pending keys, with links to the lists of their users. */
function PendingCard({ pending: { waiting, undecided, ready } }: { pending: Publishing["pending"] }) {
  return (
    <section class="card" aria-labelledby="pending-title">
      <h2 id="pending-title">Pending keys</h2>
      <Numbers
        items={[
          { label: "In the next batch", value: formatCount(ready), page: "users?state=ready" },
          { label: "In hold", value: formatCount(waiting), page: "users?state=waiting" },
          {
            label: "Waiting for a decision",
            value: formatCount(undecided),
            page: "users?state=undecided",
            isBad: undecided > 0,
          },
        ]}
      />
    </section>
  );
}

function BatchesCard({ me }: { me: Me }) {
  const batches = usePages("/v1/dashboard/publishing/listBatches", "batches");
  return (
    <section class="card" aria-labelledby="batches-title">
      <h2 id="batches-title">
        <Term of="batch">Batches</Term> with your users
      </h2>
      <PagedTable
        pages={batches}
        columns={[
          <Term of="root">Root</Term>,
          ...["State", "Your users", "Region", "Time"],
          <Term of="transaction">Transaction</Term>,
          "Your cost",
        ]}
        row={(batch) => <BatchRow key={`${batch.root} ${batch.region}`} batch={batch} me={me} />}
        note={
          <p class="detail">
            States, times and costs are this service’s own, from one <Term of="endpoint" />. A verification checks them
            against the <Term of="chain" />.
          </p>
        }
        empty={<p>There is none yet.</p>}
      />
      {batches.items !== undefined && batches.items.length > 0 && (
        <ExportButtons
          path="/v1/dashboard/publishing/listBatches"
          field="batches"
          filter={{}}
          name="batches"
          formats={{ csv: toBatchesCsv }}
        />
      )}
    </section>
  );
}

/** Converts batches to CSV. The cost is in wei. */
function toBatchesCsv(batches: readonly BatchShare[]): string {
  const rows = batches.map(({ root, state, users, region, created, confirmed, transaction, block, gas, cost }) => [
    ...[root, state, users, region, timeInCsv(created), timeInCsv(confirmed)],
    ...[transaction, block, gas, cost],
  ]);
  return toCsv(
    ["root", "state", "users", "region", "created", "confirmed", "transaction", "block", "gas", "cost_in_wei"],
    rows,
  );
}

function BatchRow({ batch, me }: { batch: BatchShare; me: Me }) {
  const { root, region, users, created, confirmed, state, transaction, block, gas, cost } = batch;
  const { explorer_url: explorer, block_explorer_url: blockExplorer } = me;
  const isPublished = state === "published";
  return (
    <tr class="row">
      <td>
        <ShortValue
          value={root}
          name="the root"
          href={explorer !== null && isPublished ? `${explorer}#/batch/${root}` : undefined}
        />
      </td>
      <td>
        <KeyStateBadge state={state} />
      </td>
      <td>{plural(users, "user")}</td>
      <td>{regionName(region)}</td>
      <td>
        <Time ms={confirmed ?? created} />
      </td>
      <td data-name="transaction">
        {transaction === null ? (
          "none yet"
        ) : (
          <ShortValue
            value={transaction}
            name="the transaction"
            href={blockExplorer === null ? undefined : `${blockExplorer}/tx/${transaction}`}
          />
        )}
      </td>
      <td
        data-name="your cost"
        title={block === null ? undefined : `block ${formatCount(block)}, ${formatCount(gas ?? 0)} gas`}
      >
        {cost === null ? "unknown" : formatCost(BigInt(cost))}
      </td>
    </tr>
  );
}
