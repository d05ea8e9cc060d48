import { useEffect, useState } from "preact/hooks";
import { Value } from "../../shared/code.tsx";
import { formatCount, plural } from "../../shared/text.ts";
import { call, isAdministrator, type Me, type PublishRun, type SystemStatus } from "../api.ts";
import { formatCost, formatGwei } from "../cost.ts";
import { CardHead, Confirm, Failure, Time } from "../parts.tsx";
import { regionName } from "../regions.ts";
import { useAction, useLoaded } from "../useCall.ts";

/** The state of the databases, the chain and the stores of files, and publishing now. */
export function SystemPage({ me }: { me: Me }) {
  const { data, error, reload } = useLoaded<SystemStatus>("operator/getStatus");
  return (
    <>
      <h1>System</h1>
      <p class="lead">What the service needs, checked when this page was opened.</p>
      {data === undefined && (error ? <Failure error={error} retry={reload} /> : <p role="status">Checking…</p>)}
      {data && (
        <>
          <section class="card" aria-labelledby="databases-title">
            <div class="card-head">
              <h2 id="databases-title">Databases</h2>
              <button type="button" class="button button-small" onClick={reload}>
                Check again
              </button>
            </div>
            <ul class="rows">
              {data.databases.map((database) => (
                <CheckRow key={database.name} name={database.name} error={database.error} />
              ))}
            </ul>
          </section>
          {data.publishing === null ? (
            <section class="card">
              <h2>Publishing</h2>
              <p>This service does not publish: its configuration names no chain.</p>
            </section>
          ) : (
            <>
              <PublisherCard publishing={data.publishing} canPublish={isAdministrator(me)} reload={reload} />
              <ChainCard chain={data.publishing.chain} />
              <StoresCard stores={data.publishing.stores} />
            </>
          )}
        </>
      )}
    </>
  );
}

function CheckRow({ name, detail, error }: { name: string; detail?: string; error: string | null }) {
  return (
    <li class="row">
      <div class="row-text">
        <b>{name}</b>
        {detail !== undefined && <span class="detail">{detail}</span>}
      </div>
      {error === null ? (
        <span class="badge badge-good">answers</span>
      ) : (
        <span>
          <span class="badge badge-bad">fails</span> <code>{error}</code>
        </span>
      )}
    </li>
  );
}

type Publishing = NonNullable<SystemStatus["publishing"]>;

/** How often the page asks how far publishing is, in ms. */
const POLL_MS = 2000;

interface PublisherCardProps {
  publishing: Publishing;
  canPublish: boolean;
  reload: () => void;
}

function PublisherCard({ publishing, canPublish, reload }: PublisherCardProps) {
  const { publishable, running, last_run } = publishing;
  const [isAsking, setAsking] = useState(false);
  const start = useAction(async () => {
    await call("operator/publish");
    setAsking(false);
    reload();
  });
  const isBusy = running || last_run?.ended === null;
  useEffect(() => {
    if (!isBusy) return undefined;
    const timer = setTimeout(reload, POLL_MS);
    return () => {
      clearTimeout(timer);
    };
    // Each answer is another object.
  }, [publishing]);
  return (
    <section class="card" aria-labelledby="publisher-title">
      <CardHead
        id="publisher-title"
        title={<>Publishing {isBusy && <span class="badge badge-open">in progress</span>}</>}
        action={canPublish && !isBusy ? "Publish now" : undefined}
        onAction={() => {
          setAsking(true);
        }}
      />
      <p class="detail">
        Keys are published in <dfn>batches</dfn>: one file with many keys, and one <dfn>transaction</dfn>. It puts the
        file’s <dfn>root</dfn>, a fingerprint, on the <dfn>chain</dfn>, a public ledger that grows by <dfn>blocks</dfn>.
      </p>
      <p>{plural(publishable, "key")} would be published now.</p>
      <div role="status">
        {isBusy ? (
          <p>
            The service is publishing. It takes until the transactions are confirmed, which may be minutes. This page
            shows when it ends; it goes on if you close the page.
          </p>
        ) : (
          last_run && <RunResult run={last_run} />
        )}
      </div>
      {isAsking && (
        <Confirm
          title="Publish now?"
          action="Publish"
          busy={start.busy}
          error={start.error}
          onConfirm={() => void start.run()}
          onCancel={() => {
            setAsking(false);
          }}
        >
          <p>
            Publishes all keys whose time to object is over, and pays for the transactions. A published key cannot be
            changed or removed.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function RunResult({ run: { started, batches, error } }: { run: PublishRun }) {
  if (error !== null)
    return (
      <p class="error">
        What was started <Time ms={started} /> failed: <code>{error}</code>. The service’s log says why.{" "}
        {error === "PUBLISHER_RUNNING" && "Another replica was publishing."}
      </p>
    );
  return (
    <>
      <p>
        Started <Time ms={started} />.{" "}
        {batches.length === 0
          ? "There was nothing to publish."
          : `Published: ${plural(batches.length, "batch", "batches")}.`}
      </p>
      {batches.map(({ root, users, block }) => (
        <p key={root} class="detail">
          {plural(users, "user")}, block {formatCount(block)}: <code>{root}</code>
        </p>
      ))}
    </>
  );
}

function ChainCard({ chain: { chain_id, contract, error, state } }: { chain: Publishing["chain"] }) {
  return (
    <section class="card" aria-labelledby="chain-title">
      <h2 id="chain-title">Chain</h2>
      <p class="detail">
        The <dfn>contract</dfn> is the program on the chain that keeps the roots. <dfn>Gas</dfn> is the unit of work
        that a transaction pays for.
      </p>
      <ul class="rows">
        <CheckRow
          name={`Chain ${chain_id}`}
          {...(state && {
            detail: `block ${formatCount(state.block)}, gas at ${formatGwei(BigInt(state.fee))}`,
          })}
          error={error}
        />
      </ul>
      <dl class="facts">
        <dt>Contract that keeps the roots</dt>
        <dd>
          <Value value={contract} name="the contract" />
        </dd>
        {state && (
          <>
            <dt>Owner, who pays for publishing</dt>
            <dd>
              <Value value={state.owner} name="the owner" />
            </dd>
            <dt>Owner’s balance</dt>
            <dd>{formatCost(BigInt(state.balance))}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function StoresCard({ stores }: { stores: Publishing["stores"] }) {
  return (
    <section class="card" aria-labelledby="stores-title">
      <h2 id="stores-title">Stores of Merkle-tree files</h2>
      <p class="detail">
        A <dfn>Merkle-tree file</dfn> has the keys of one batch, and the <dfn>hashes</dfn>, fingerprints, that lead from
        each key to the root. Verifiers fetch it. Each region has its store.
      </p>
      <ul class="rows">
        {stores.map(({ region, location, error }) => (
          <CheckRow key={region} name={regionName(region)} detail={location} error={error} />
        ))}
      </ul>
    </section>
  );
}
