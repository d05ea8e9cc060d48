import { useEffect, useMemo, useState } from "preact/hooks";
import { Fact, Facts } from "../../shared/facts.tsx";
import { formatCount } from "../../shared/format.ts";
import { Time } from "../../shared/time.tsx";
import { addressOf } from "./evidenceChoice.ts";
import { sourceNamed } from "./sources.ts";
import type { Verification } from "./useVerification.ts";

interface ReceiptProps {
  /** The verdict in a few words. */
  title: string;
  verification: Verification;
}

/** A button that prints the verdict with its evidence. Only paper shows the receipt, in place of the page. */
export function PrintReceipt(props: ReceiptProps) {
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (count > 0) print();
  }, [count]);
  return (
    <>
      <button
        type="button"
        class="button print-button"
        onClick={() => {
          setCount(count + 1);
        }}
      >
        Print a receipt
      </button>
      {count > 0 && <Receipt {...props} />}
    </>
  );
}

function Receipt({ title, verification: { userID, outcome, options, source } }: ReceiptProps) {
  const checkedAt = useMemo(() => Date.now(), [outcome]);
  if (outcome === undefined) return null;
  const verified = "verified" in outcome ? outcome.verified : undefined;
  const failure = "failure" in outcome ? outcome.failure : undefined;
  const { block, source: name = options.trust.name } = verified?.evidence ?? failure?.evidence ?? {};
  const { strength, label } = sourceNamed(name);
  return (
    <section class="receipt" aria-label="Receipt">
      <h1>{title}</h1>
      <Facts>
        <Fact name="User id" isWide>
          <code>{userID}</code>
        </Fact>
        {verified && (
          <>
            <Fact name="Published key id">
              <code>{verified.record.keyID}</code>
            </Fact>
            {verified.account && <Fact name="Number of the key in the account">{verified.account.number}</Fact>}
            <Fact name="Public key" isWide>
              <code>{verified.record.pubKey}</code>
            </Fact>
          </>
        )}
        {failure && <Fact name="Error">{failure.code}</Fact>}
        <Fact name="Verified on">
          <Time ms={checkedAt} />
        </Fact>
        <Fact name="Evidence">
          {strength}, {label}
        </Fact>
        {block && (
          <Fact name="Block" isWide>
            {formatCount(block.number)} of <Time ms={block.timestamp * 1000} />
            <br />
            <code>{block.hash}</code>
          </Fact>
        )}
        <Fact name="Contract" isWide>
          <code>{options.contract}</code> on chain {options.chainId.toString()}
        </Fact>
        {source === "network" ? (
          <Fact name="Verify again" isWide>
            {location.href.replace(/#.*/s, "")}#/{addressOf(userID, options.trust.name)}
          </Fact>
        ) : (
          <Fact name="Bundle">{source.bundle}</Fact>
        )}
      </Facts>
      <p>This paper proves nothing by itself. Verify the key again to rely on it.</p>
    </section>
  );
}
