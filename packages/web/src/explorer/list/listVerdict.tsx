import { formatCount, plural } from "../../shared/format.ts";
import { Icon } from "../../shared/icon.tsx";
import { saveFile } from "../../shared/saveFile.ts";
import { timeInCsv, toCsv } from "../../shared/csv.ts";
import { RetryButton, type Tone, Verdict } from "../shared/verdict.tsx";
import { Meter } from "../verify/meter.tsx";
import { sourceNamed } from "../verify/sources.ts";
import type { ContactResult, ContactVerdict, Options } from "../worker/messages.ts";
import type { ContactList } from "./useContactList.ts";

interface ListVerdictProps {
  list: ContactList;
  options: Options;
  retry: () => void;
}

/** Sums up the verdicts of a contact list. It is green only if every key is proven. */
export function ListVerdict({ list: { results, isOver }, options, retry }: ListVerdictProps) {
  const count = (...verdicts: ContactVerdict[]) => results.filter(({ verdict }) => verdicts.includes(verdict)).length;
  const known = results.length - count("waiting");
  if (!isOver)
    return (
      <Verdict tone="busy" isTall title={`Verifying ${plural(results.length, "contact")} …`}>
        <progress value={known} max={Math.max(1, results.length)} aria-label="Verified contacts" />
      </Verdict>
    );
  const evidence = results.find(({ evidence }) => evidence !== undefined)?.evidence;
  const { strength, label, restsOn } = sourceNamed(evidence?.source ?? options.trust.name);
  const [wrong, unknown, absent] = [
    count("different", "rejected"),
    count("open", "unreadable"),
    count("absent"),
  ] as const;
  const isProven = strength === "proven";
  const all = `${results.length === 1 ? "The key is" : `All ${formatCount(results.length)} keys are`} ${count("published") === 0 ? "the same" : "published"}`;
  const { tone, title } = ((): { tone: Tone; title: string } => {
    if (wrong > 0)
      return { tone: "bad", title: `Do not use ${plural(wrong, "key")} of ${formatCount(results.length)}` };
    if (unknown + absent > 0)
      return {
        tone: "open",
        title: `${plural(unknown + absent, "key")} of ${formatCount(results.length)} not confirmed`,
      };
    return { tone: isProven ? "good" : "weak", title: isProven ? all : `${all}, according to ${strength}` };
  })();
  return (
    <Verdict tone={tone} isTall title={title}>
      <Meter strength={strength} label={label} canChange />
      <p>
        {sumOf(results)}{" "}
        {evidence && (
          <>
            <b>This rests on</b> {restsOn(evidence, options)}
          </>
        )}
      </p>
      <div class="buttons">
        <button
          type="button"
          class="button"
          onClick={() => {
            saveFile("verified-contacts.csv", new Blob([resultsToCsv(results)], { type: "text/csv" }));
          }}
        >
          <Icon name="download" /> Download the verdicts
        </button>
        {unknown > 0 && <RetryButton retry={retry} />}
      </div>
    </Verdict>
  );
}

/** The verdicts that a list can have, in words. */
const COUNTED: readonly [ContactVerdict, string][] = [
  ["same", "the same"],
  ["different", "different"],
  ["published", "published without a key to compare"],
  ["absent", "not published"],
  ["rejected", "rejected"],
  ["open", "not verified"],
  ["unreadable", "not readable"],
];

/** Returns how many contacts have each verdict: "3 the same, 1 different." */
function sumOf(results: readonly ContactResult[]): string {
  const counts = COUNTED.map(([name, words]) => {
    const count = results.filter(({ verdict }) => verdict === name).length;
    return count === 0 ? "" : `${formatCount(count)} ${words}`;
  });
  return `${counts.filter((text) => text !== "").join(", ")}.`;
}

/** Converts the verdicts to CSV. */
function resultsToCsv(results: readonly ContactResult[]): string {
  const columns = ["userID", "verdict", "code", "keyID", "number", "evidence", "block", "blockTime"];
  const rows = results.map(({ userID, verdict, failure, keyID = null, number = null, evidence }) => {
    const { block } = evidence ?? {};
    const time = timeInCsv(block ? block.timestamp * 1000 : null);
    return [
      userID,
      verdict,
      failure?.code ?? null,
      keyID,
      number,
      evidence?.source ?? null,
      block?.number ?? null,
      time,
    ];
  });
  return toCsv(columns, rows);
}
