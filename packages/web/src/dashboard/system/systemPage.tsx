import { useEffect, useState } from "preact/hooks";
import { Link, Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { formatCost, formatCount, formatGwei, plural, regionName } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { call, isAdministrator, type Me, type PublishRun, type SystemStatus } from "../shared/api.ts";
import { Unloaded } from "../shared/cards.tsx";
import { Confirm } from "../shared/dialogs.tsx";
import { useLoaded } from "../shared/useCall.ts";

/** The state of the databases, the chain and the file stores, with a button that publishes now. */
export function SystemPage({ me }: { me: Me }) {
  const { data, error, reload } = useLoaded("/v1/dashboard/status/get", {});
  return (
    <>
      <h1>System</h1>
      {data === undefined && (
        <Unloaded error={error} reload={reload}>
          Checking…
        </Unloaded>
      )}
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
              <p>This service does not publish, because its configuration names no registry.</p>
            </section>
          ) : (
            <>
              <PublisherCard
                publishing={data.publishing}
                canPublish={isAdministrator(me)}
                reload={reload}
                blockExplorer={me.block_explorer_url}
              />
              <DifferencesCard differences={data.publishing.differences} />
              <ReportCard reported={data.publishing.reported} />
              <ChainCard chain={data.publishing.chain} blockExplorer={me.block_explorer_url} />
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

/** Time in ms without a report after which the publisher is probably not running. */
const SILENT_MS = 120_000;
/** Time in ms between two status calls while the service publishes. */
const POLL_MS = 2000;

interface RunResultProps {
  run: PublishRun;
  blockExplorer: string | null;
}

interface PublisherCardProps {
  blockExplorer: string | null;
  publishing: Publishing;
  canPublish: boolean;
  reload: () => void;
}

function PublisherCard({ publishing, canPublish, reload, blockExplorer }: PublisherCardProps) {
  const { publishable, running, last_run } = publishing;
  const [isAsking, setAsking] = useState(false);
  const isWaiting = !running && last_run?.ended === null;
  const isBusy = running || isWaiting;
  useEffect(() => {
    if (!isBusy) return undefined;
    const timer = setTimeout(reload, POLL_MS);
    return () => {
      clearTimeout(timer);
    };
    // Each response is a new object, so the effect runs after each response.
  }, [publishing]);
  return (
    <section class="card" aria-labelledby="publisher-title">
      <div class="card-head">
        <h2 id="publisher-title">Publishing {isBusy && <span class="badge badge-open">in progress</span>}</h2>
        {canPublish && !isBusy && (
          <button
            type="button"
            class="button button-primary"
            disabled={publishable === 0}
            aria-describedby="publishable"
            onClick={() => {
              setAsking(true);
            }}
          >
            Publish now
          </button>
        )}
      </div>
      <p id="publishable">
        {publishable === 0
          ? "There is nothing to publish: no key waits for the next "
          : `${plural(publishable, "key")} would be published now, in the next `}
        <Term of="batch" />.
      </p>
      <div role="status">
        {isBusy ? (
          <p>
            {isWaiting
              ? "The publisher takes the request within seconds. If nothing happens, check that it runs. "
              : "The publisher is publishing. Confirming the transactions may take minutes. "}
            This page shows when it ends. It continues if you close the page.
          </p>
        ) : (
          last_run && <RunResult run={last_run} blockExplorer={blockExplorer} />
        )}
      </div>
      {isAsking && (
        <Confirm
          title="Publish now?"
          action="Publish"
          onConfirm={async () => {
            await call("/v1/dashboard/publishing/start", {});
            setAsking(false);
            reload();
          }}
          onCancel={() => {
            setAsking(false);
          }}
        >
          <p>
            Publishes all keys whose hold period is over, and pays for the transactions. A published key cannot be
            changed or removed.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function RunResult({ run: { requested, batches, error }, blockExplorer }: RunResultProps) {
  const txUrl = (transaction: string) => (blockExplorer === null ? undefined : `${blockExplorer}/tx/${transaction}`);
  if (error !== null)
    return (
      <p class="error">
        The run that was requested <Time ms={requested} /> failed: <code>{error}</code>. The publisher’s log contains
        the reason.
      </p>
    );
  return (
    <>
      <p>
        Requested <Time ms={requested} />.{" "}
        {batches.length === 0
          ? "There was nothing to publish."
          : `Published: ${plural(batches.length, "batch", "batches")}.`}
      </p>
      {batches.map(({ root, users, transaction, block }) => (
        <p key={root} class="detail">
          {plural(users, "user")}, <Link href={txUrl(transaction)}>block {formatCount(block)}</Link>:{" "}
          <code>{root}</code>
        </p>
      ))}
    </>
  );
}

/** The published roots that the last checks could not confirm. The card is hidden if the checks confirmed all roots. */
function DifferencesCard({ differences }: { differences: Publishing["differences"] }) {
  if (differences.length === 0) return null;
  return (
    <section class="card" aria-labelledby="differences-title">
      <h2 id="differences-title">
        Differences <span class="badge badge-bad">{formatCount(differences.length)}</span>
      </h2>
      <p>
        The chain or the file did not confirm these <Term of="root">roots</Term> at the last check. The metric{" "}
        <code>keyroot_publishing_differences</code> counts them. <code>keyroot reconcile</code> repairs them.
      </p>
      <ul class="rows">
        {differences.map(({ region, root, error }) => (
          <li key={region + root} class="row">
            <div class="row-text">
              <Value value={root} name="the root" />
              <span class="detail">{regionName(region)}</span>
            </div>
            <code>{error}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A warning if the publisher, which is another process, has not reported recently. */
function ReportCard({ reported }: { reported: number | null }) {
  if (reported !== null && Date.now() - reported < SILENT_MS) return null;
  return (
    <section class="card" aria-labelledby="report-title">
      <h2 id="report-title">Publisher</h2>
      <p class="error">
        {reported === null ? (
          "The publisher never reported."
        ) : (
          <>
            The publisher last reported <Time ms={reported} />.
          </>
        )}{" "}
        Check that <code>keyroot publisher</code> runs and reaches the database.
      </p>
    </section>
  );
}

interface ChainCardProps {
  chain: Publishing["chain"];
  blockExplorer: string | null;
}

/** The state of the chain, according to the service's own endpoint. */
function ChainCard({ chain: { chain_id, contract, key_type, error, state }, blockExplorer }: ChainCardProps) {
  const addressUrl = (address: string) => (blockExplorer === null ? undefined : `${blockExplorer}/address/${address}`);
  return (
    <section class="card" aria-labelledby="chain-title">
      <h2 id="chain-title">
        <Term of="chain">Chain</Term>
      </h2>
      <ul class="rows">
        <CheckRow
          name={`Chain ${chain_id}`}
          {...(state && {
            detail: `block ${formatCount(state.block)}, gas at ${formatGwei(BigInt(state.fee))}`,
          })}
          error={error}
        />
      </ul>
      <Facts>
        <Fact name={<Term of="contract">Contract</Term>}>
          <Value value={contract} name="the contract" href={addressUrl(contract)} />
        </Fact>
        <Fact name="Type of its keys">{key_type}</Fact>
        {state && (
          <>
            <Fact name="Owner, who pays for publishing">
              <Value value={state.owner} name="the owner" href={addressUrl(state.owner)} />
            </Fact>
            <Fact name="Owner’s balance">{formatCost(BigInt(state.balance))}</Fact>
          </>
        )}
      </Facts>
      <p class="detail">
        <Term of="block">Block</Term>, owner, balance and <Term of="gas" /> price are the unproven answer of one{" "}
        <Term of="endpoint" />, the one that the publisher uses.
      </p>
    </section>
  );
}

function StoresCard({ stores }: { stores: Publishing["stores"] }) {
  return (
    <section class="card" aria-labelledby="stores-title">
      <h2 id="stores-title">
        Stores of <Term of="Merkle-tree file">Merkle-tree files</Term>
      </h2>
      <ul class="rows">
        {stores.map(({ region, location, error }) => (
          <CheckRow key={region} name={regionName(region)} detail={location} error={error} />
        ))}
      </ul>
    </section>
  );
}
