import { Link, ShortValue } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { formatCount, plural } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { config, endpoints, hostOf } from "../shared/config.ts";
import { Explanation } from "../shared/explanation.tsx";
import { RetryButton } from "../shared/verdict.tsx";
import { callWorker } from "../shared/callWorker.ts";
import type { RegistryFacts, RootAdded } from "../worker/messages.ts";
import { useWorkerCall } from "../worker/useWorkerCall.ts";

/** The explorer's registry: chain, contract, owner, users and batches. Each value has its evidence. */
export function RegistryCard() {
  const [result, retry] = useWorkerCall((signal) => {
    const { contract, codeHash, allowHttp } = config;
    return callWorker("registry", "readRegistry", { rpc: endpoints(), contract, codeHash, allowHttp }, { signal });
  });
  const isRead = result !== undefined && "facts" in result;
  const isFailed = result !== undefined && !isRead;
  return (
    <>
      <section class="card registry-card" aria-labelledby="registry-title">
        <h2 id="registry-title">The registry</h2>
        <Facts isDense>
          <Fact name={<Term of="chain">Chain</Term>}>{config.chainId}</Fact>
          <Fact name={<Term of="contract">Contract</Term>}>
            <ShortValue value={config.contract} name="the contract" href={addressUrl(config.contract)} />
            {isRead && <CodeBadge code={result.facts.code} />}
          </Fact>
          {!isFailed && (
            <>
              <Fact name="Owner">
                {isRead ? (
                  <ShortValue value={result.facts.owner} name="the owner" href={addressUrl(result.facts.owner)} />
                ) : (
                  "…"
                )}
              </Fact>
              <Fact name="Users with a key">{isRead ? formatCount(result.facts.users) : "…"}</Fact>
              <Fact name={<Term of="block">Block</Term>}>
                {isRead ? (
                  <>
                    {formatCount(result.facts.block.number)}, <Time ms={result.facts.block.timestamp * 1000} />
                  </>
                ) : (
                  "…"
                )}
              </Fact>
              <Fact name={<Term of="root">Roots</Term>}>
                {isRead ? `${formatCount(result.recent.length)}${result.isWhole ? "" : " or more"}` : "…"}
              </Fact>
              <Fact name="Last batch">{isRead ? lastBatch(result.recent) : "…"}</Fact>
            </>
          )}
        </Facts>
        <p class="detail" role="status">
          {result === undefined && "Reading the contract …"}
          {isRead && <RestsOn facts={result.facts} />}
          {isFailed && (
            <>
              Owner, users and <Term of="root">roots</Term> could not be read.
            </>
          )}
        </p>
        {isFailed && (
          <>
            {"failure" in result ? <Explanation failure={result.failure} /> : <p class="error">{result.defect}</p>}
            <RetryButton retry={retry} />
          </>
        )}
      </section>
      <RecentBatches recent={isRead ? result.recent : undefined} isFailed={isFailed} />
    </>
  );
}

function CodeBadge({ code }: Pick<RegistryFacts, "code">) {
  if (code === "unchecked") return <span class="badge badge-off">code not checked</span>;
  return code === "expected" ? (
    <span class="badge badge-good">code has the expected hash</span>
  ) : (
    <span class="badge badge-bad">code has another hash</span>
  );
}

function RestsOn({ facts: { agreeing } }: { facts: RegistryFacts }) {
  const all = endpoints();
  const hosts = all.map(hostOf).join(", ");
  if (agreeing < all.length && all.length > 1) {
    return (
      <b>
        Only {agreeing} of {all.length} <Term of="endpoint">endpoints</Term> gave this answer: {hosts}.
      </b>
    );
  }
  return (
    <>
      Chain and contract are this page’s configuration. The rest is{" "}
      {agreeing > 1 ? "the same answer of " : "the unproven answer of "}
      {agreeing} <Term of="endpoint">{agreeing > 1 ? "endpoints" : "endpoint"}</Term>, {hosts}. The verification of a
      key relies on none of these numbers.
    </>
  );
}

function lastBatch([last]: readonly RootAdded[]): string {
  return last === undefined ? "none found" : `block ${formatCount(last.blockNumber)}`;
}

interface RecentBatchesProps {
  recent: readonly RootAdded[] | undefined;
  isFailed: boolean;
}

function RecentBatches({ recent, isFailed }: RecentBatchesProps) {
  return (
    <section class="card recent-card" aria-labelledby="recent-title">
      <h2 id="recent-title">
        Recent <Term of="batch">batches</Term>
      </h2>
      {recent === undefined ? (
        <p>{isFailed ? "The list could not be read." : "…"}</p>
      ) : recent.length === 0 ? (
        <p>None was found.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Root</th>
              <th scope="col">Users</th>
              <th scope="col">Block</th>
            </tr>
          </thead>
          <tbody>
            {recent.map(({ root, addedCount, blockNumber }) => (
              <tr key={`${root} ${blockNumber}`}>
                <td>
                  <ShortValue value={root} name="the root" href={`#/batch/${root}`} />
                </td>
                <td>{plural(addedCount, "user")}</td>
                <td>
                  <Link href={config.blockExplorerUrl && `${config.blockExplorerUrl}/block/${blockNumber}`}>
                    {formatCount(blockNumber)}
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {!isFailed && <p class="detail">One endpoint’s list. It may leave out batches: an audit reads them all.</p>}
    </section>
  );
}

function addressUrl(address: string): string | undefined {
  return config.blockExplorerUrl && `${config.blockExplorerUrl}/address/${address}`;
}
