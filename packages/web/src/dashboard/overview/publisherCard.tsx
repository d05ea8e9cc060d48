import { useEffect, useState } from "preact/hooks";
import { Link } from "../../shared/copyable.tsx";
import { formatCost, formatCount, formatGwei, plural } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { call, type PublishRun, type SystemStatus } from "../shared/api.ts";
import { Confirm } from "../shared/dialogs.tsx";

type Publishing = NonNullable<SystemStatus["publishing"]>;

/** Time in ms between two status calls while the service publishes. */
const POLL_MS = 2000;

/** Gas for each user when 64 users share a transaction, measured on Ethereum. Other chains may need more. */
const GAS_PER_USER = 23_414n;
/** The number of users in a full file. */
const FULL_FILE = 64;
/**
 * Estimates the cost of the next publication. If no key is waiting, it estimates the cost of one full file.
 * @returns the gas, the cost in wei, and the number of such publications that the balance allows. Undefined if the
 *   state of the chain is not known
 */
function costOf({ publishable, chain: { state } }: Publishing) {
  if (state === null) return undefined;
  const gas = BigInt(publishable === 0 ? FULL_FILE : publishable) * GAS_PER_USER;
  const cost = gas * BigInt(state.fee);
  return { gas, cost, left: cost === 0n ? null : Number(BigInt(state.balance) / cost) };
}

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

/** What the next batch publishes, with a button that publishes now. */
export function PublisherCard({ publishing, canPublish, reload, blockExplorer }: PublisherCardProps) {
  const { publishable, running, last_run, chain } = publishing;
  const cost = costOf(publishing);
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
          <p>{plural(publishable, "key")} will be published. A published key cannot be changed or removed.</p>
          {cost !== undefined && chain.state !== null && (
            <p>
              It needs about {formatCount(Number(cost.gas))} gas at {formatGwei(BigInt(chain.state.fee))}: about{" "}
              <b>{formatCost(cost.cost)}</b>.{" "}
              {cost.left !== null &&
                `The owner’s balance of ${formatCost(BigInt(chain.state.balance))} is enough for about ${plural(cost.left, "such publication")}.`}
            </p>
          )}
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
