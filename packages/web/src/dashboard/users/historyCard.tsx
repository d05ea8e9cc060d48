import { Link } from "../../shared/copyable.tsx";
import { formatCount } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import type { HistoryItem } from "./history.ts";

interface HistoryCardProps {
  userID: string;
  items: readonly HistoryItem[];
  /** Whether the audit log contains older changes. */
  hasMore: boolean;
  blockExplorerUrl: string | null;
}

/** What happened to a user, newest first. */
export function HistoryCard({ userID, items, hasMore, blockExplorerUrl }: HistoryCardProps) {
  return (
    <section class="card" aria-labelledby="history-title">
      <div class="card-head">
        <h2 id="history-title">History</h2>
        <a href={`#/audit?user=${userID}`}>{hasMore ? "Show older changes" : "Show with details"}</a>
      </div>
      <ol class="timeline">
        {items.map(({ at, text, keyID, by, isHold = false, block, transaction }, i) => (
          <li key={i} class={at > Date.now() ? "timeline-next" : undefined}>
            <span class="detail">
              <Time ms={at} />
            </span>
            <span>
              <b>
                {isHold ? (
                  <>
                    <Term of="hold period">Hold period</Term> {text}
                  </>
                ) : (
                  text
                )}
              </b>
              {block !== undefined && (
                <>
                  {" in "}
                  <Term of="block" />{" "}
                  <Link
                    href={
                      blockExplorerUrl === null || transaction === undefined
                        ? undefined
                        : `${blockExplorerUrl}/tx/${transaction}`
                    }
                  >
                    {formatCount(block)}
                  </Link>
                </>
              )}
              {by !== undefined && ` by ${by}`}
              {keyID !== undefined && (
                <>
                  {" "}
                  <code class="detail">{keyID}</code>
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
