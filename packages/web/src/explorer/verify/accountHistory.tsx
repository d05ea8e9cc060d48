import { Link } from "../../shared/copyable.tsx";
import { formatCount, plural, shorten } from "../../shared/format.ts";
import { Time } from "../../shared/time.tsx";
import { callWorker } from "../shared/callWorker.ts";
import { config } from "../shared/config.ts";
import { Explanation } from "../shared/explanation.tsx";
import type { AccountHistory as History, AccountSlot, Options, SlotFacts } from "../worker/messages.ts";
import { useWorkerCall } from "../worker/useWorkerCall.ts";

interface AccountHistoryProps {
  history: History;
  /** The id of the verified key. */
  keyID: string;
  options: Options;
}

/** The slots of a user's account, newest first: who authorized which key, and when it was published. */
export function AccountHistory({ history, keyID, options }: AccountHistoryProps) {
  const { slots, number, keyCount, threshold } = history;
  const [result] = useWorkerCall(
    (signal) =>
      callWorker("complete", "readSlots", { userIDs: slots.map(({ userID }) => userID), options }, { signal }),
    [history],
  );
  const facts = result && "facts" in result ? result.facts : undefined;
  const last = slots.at(-1);
  return (
    <section class="card" aria-labelledby="account-title">
      <h2 id="account-title">Account</h2>
      <p class="detail">
        The user can change the key: {threshold} of {plural(keyCount, "recovery key")} must sign for each new one.
      </p>
      <ol class="timeline">
        <li class="timeline-next">
          <span class="detail">at the verified block</span>
          <span>
            <b>Slot {formatCount((last?.number ?? number) + 1)} is empty</b>, so there is no newer key.
          </span>
        </li>
        {slots.toReversed().map((slot) => (
          <Slot
            key={slot.number}
            slot={slot}
            keyID={slot.number === number ? keyID : undefined}
            facts={facts ? (facts[slots.indexOf(slot)] ?? "none") : undefined}
          />
        ))}
      </ol>
      {(slots[0]?.number ?? 0) > 0 && (
        <p class="detail">{plural(slots[0]?.number ?? 0, "earlier slot")} are not listed.</p>
      )}
      {result && "failure" in result && <Explanation failure={result.failure} />}
      {result && "defect" in result && <p class="error">{result.defect}</p>}
      <p class="detail">Times and blocks are one endpoint’s answers. The verdict does not rely on them.</p>
    </section>
  );
}

interface SlotProps {
  slot: AccountSlot;
  /** The id of the slot's key, if it is the verified one. */
  keyID: string | undefined;
  /** Undefined until they are read. */
  facts: SlotFacts | "none" | undefined;
}

function Slot({ slot: { number, userID, statement }, keyID, facts }: SlotProps) {
  const isVoid = statement?.isVoid === true;
  const { root, blockNumber, timestamp } = typeof facts === "object" ? facts : {};
  return (
    <li>
      <span class="detail">
        {timestamp === undefined ? facts === "none" ? "not published" : "…" : <Time ms={timestamp * 1000} />}
      </span>
      <span>
        <b>
          {isVoid ? "Slot" : "Key"} {formatCount(number)}
        </b>
        {isVoid
          ? ", void: it holds a key that the owner did not authorize"
          : keyID
            ? ", the current one"
            : ", replaced"}
        {blockNumber !== undefined && (
          <>
            {", in block "}
            <Link href={config.blockExplorerUrl && `${config.blockExplorerUrl}/block/${blockNumber}`}>
              {formatCount(blockNumber)}
            </Link>
          </>
        )}
        <br />
        <span class="detail">
          {statement && <>{signersOf(statement)} signed. </>}
          {keyID !== undefined && (
            <>
              Key id <code>{keyID}</code>.{" "}
            </>
          )}
          Slot id{" "}
          <Link href={root === undefined ? undefined : `#/batch/${root}/${userID}`}>
            <code title={userID}>{shorten(userID)}</code>
          </Link>
        </span>
      </span>
    </li>
  );
}

const TYPE_NAMES = { ed25519: "Ed25519", p256: "P-256" } as const;

function signersOf({ signers }: NonNullable<AccountSlot["statement"]>): string {
  const names = signers.map(({ keyNumber, type }) => `${keyNumber} (${TYPE_NAMES[type]})`);
  return `Recovery ${names.length === 1 ? "key" : "keys"} ${names.join(" and ")}`;
}
