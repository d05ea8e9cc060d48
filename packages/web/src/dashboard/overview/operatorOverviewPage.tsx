import { Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { formatCost, formatCount, formatGwei, plural, regionName, shorten } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { isAdministrator, type Me, type SystemStatus } from "../shared/api.ts";
import { Unloaded } from "../shared/cards.tsx";
import { useLoaded } from "../shared/useCall.ts";
import { ToDo } from "./numbers.tsx";
import { PublisherCard } from "./publisherCard.tsx";

type Publishing = NonNullable<SystemStatus["publishing"]>;

/** Time in ms without a report after which the publisher is probably not running. */
const SILENT_MS = 120_000;
/** The amount of gas for which the owner's balance must be enough, as in the alert `KeyrootOwnerBalance`. */
const LOW_BALANCE_GAS = 240_000_000;

/** The operator's start page: tasks, publishing, and the state of the chain, the file stores and the databases. */
export function OperatorOverviewPage({ me }: { me: Me }) {
  const { data, error, reload } = useLoaded("/v1/dashboard/status/get", {});
  return (
    <>
      <h1>Overview</h1>
      {data === undefined && (
        <Unloaded error={error} reload={reload}>
          Checking…
        </Unloaded>
      )}
      {data && (
        <>
          <ToDo items={toDo(data)} />
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
        </>
      )}
    </>
  );
}

/** The failures, the unconfirmed roots, and a low balance. */
function toDo({ databases, publishing }: SystemStatus): { text: string }[] {
  const parts = [
    ...databases.map(({ name, error }) => ({ name: `The database ${name}`, error })),
    ...(publishing?.stores ?? []).map(({ region, error }) => ({
      name: `The file store in ${regionName(region)}`,
      error,
    })),
    ...(publishing
      ? [{ name: `The endpoint of chain ${publishing.chain.chain_id}`, error: publishing.chain.error }]
      : []),
  ];
  const failed = parts.filter(({ error }) => error !== null);
  const differing = publishing?.differences.length ?? 0;
  const gas = publishing?.chain.state ? affordableGas(publishing.chain.state) : Infinity;
  return [
    ...failed.map(({ name, error }) => ({ text: `${name} fails: ${error ?? ""}.` })),
    ...(differing === 0 ? [] : [{ text: `The last check did not confirm ${plural(differing, "published root")}.` }]),
    ...(gas >= LOW_BALANCE_GAS
      ? []
      : [
          {
            text: `The owner’s balance is enough for ${formatCount(gas)} gas, less than ${formatCount(LOW_BALANCE_GAS)}. Send ether to the owner.`,
          },
        ]),
  ];
}

/** Returns how much gas the owner's balance buys at the current price. */
function affordableGas({ balance, fee }: { balance: string; fee: string }): number {
  return BigInt(fee) === 0n ? Infinity : Number(BigInt(balance) / BigInt(fee));
}

function CheckRow({ name, detail, error }: { name: string; detail?: string; error: string | null }) {
  return (
    <li class="row">
      <div class="row-text">
        <b>{name}</b>
        {detail !== undefined && <span class="detail">{detail}</span>}
      </div>
      {error === null ? (
        <span class="badge badge-good">healthy</span>
      ) : (
        <span>
          <span class="badge badge-bad">fails</span> <code>{error}</code>
        </span>
      )}
    </li>
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
              <Value value={root} name={`the root ${shorten(root)}`} />
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
