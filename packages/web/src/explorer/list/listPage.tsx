import { useEffect, useState } from "preact/hooks";
import { Field } from "../../shared/form.tsx";
import { formatBytes } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { EVIDENCE, goToVerdict } from "../shared/verdict.tsx";
import { optionsFor } from "../verify/evidenceChoice.ts";
import { EvidenceForm } from "../verify/evidenceForm.tsx";
import { type EvidenceChoice, sourceOf } from "../verify/sources.ts";
import { ContactTable } from "./contactTable.tsx";
import { ListVerdict } from "./listVerdict.tsx";
import { useContactList } from "./useContactList.ts";

/** Maximum size of a list in bytes, enough for 1,000 contacts with accounts of 4 kB. Larger files are not read. */
const MAX_BYTES = 4_000_000;

interface ListPageProps {
  /** A list that the visitor dropped on any page of the explorer. */
  dropped: File | undefined;
  choice: EvidenceChoice;
  setChoice: (choice: EvidenceChoice) => void;
}

/** Verifies all keys of a contact list. */
export function ListPage({ dropped, choice, setChoice }: ListPageProps) {
  const [file, setFile] = useState<File>();
  const [error, setError] = useState<string>();
  const [attempt, setAttempt] = useState(0);
  const options = optionsFor(choice);
  const list = useContactList(file, options, attempt);
  const open = (chosen: File | undefined) => {
    if (chosen === undefined) return;
    const isTooLarge = chosen.size > MAX_BYTES;
    const [most, actual] = [MAX_BYTES, chosen.size].map(formatBytes);
    setError(isTooLarge ? `A contact list has at most ${most}, but this file has ${actual}.` : undefined);
    setFile(isTooLarge ? undefined : chosen);
  };
  useEffect(() => {
    open(dropped);
  }, [dropped]);
  return (
    <>
      <h1>Verify a contact list</h1>
      <p class="lead">
        Is each <Term of="public key" /> in your contact list the published one? Your browser compares them all, with
        the <Term of="evidence" /> that you choose. The keys stay here: an <Term of="endpoint" /> of the{" "}
        <Term of="chain" /> sees only which users you verify.
      </p>
      <div class="card">
        <Field
          label="Contact list"
          hint={
            <>
              CSV or JSON with userID, and publicKey or keyID (the <Term of="key id" />
              ), of at most 1,000 contacts. Choose a file, or drop it anywhere on this page.
            </>
          }
          error={error ?? list?.problem}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="file"
              accept=".csv,.json,text/csv,application/json"
              onChange={({ currentTarget }) => {
                open(currentTarget.files?.[0]);
              }}
            />
          )}
        </Field>
        <p class="detail">
          All keys are verified at one <Term of="block" />. With stronger evidence than endpoints, a{" "}
          <Term of="storage proof" /> confirms each.
        </p>
        <details id={EVIDENCE}>
          <summary>Evidence: {sourceOf(options).label} </summary>
          <EvidenceForm
            choice={choice}
            setChoice={(choice) => {
              setChoice(choice);
              setAttempt(attempt + 1);
              goToVerdict();
            }}
          />
        </details>
      </div>
      {list && list.problem === undefined && (
        <>
          <ListVerdict
            list={list}
            options={options}
            retry={() => {
              setAttempt(attempt + 1);
            }}
          />
          <ContactTable results={list.results} source={options.trust.name} />
        </>
      )}
    </>
  );
}
