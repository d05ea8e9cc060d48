import { useState } from "preact/hooks";
import { readUserID } from "../../shared/readUserID.ts";
import { go } from "../../shared/router.ts";
import { SearchForm } from "../../shared/searchForm.tsx";
import { config } from "../shared/config.ts";
import { goToVerdict } from "../shared/verdict.tsx";
import { addressOf, optionsFor } from "./evidenceChoice.ts";
import { EvidenceForm } from "./evidenceForm.tsx";
import type { EvidenceChoice } from "./sources.ts";
import { useVerification } from "./useVerification.ts";
import { VerificationView } from "./verificationView.tsx";

export function VerifyPage({ id, entered, choice, setChoice }: VerifyPageProps) {
  const [attempt, setAttempt] = useState(0);
  const read = readUserID(id, config.contract);
  const userID = "userID" in read ? read.userID : undefined;
  const verification = useVerification(userID, optionsFor(choice), attempt);
  return (
    <>
      <div class="title-row">
        <h1>Verify a key</h1>
        <SearchForm key={id} initial={id} page="verify" action="Verify" contract={config.contract} />
      </div>
      {verification && (
        <VerificationView
          key={userID}
          verification={verification}
          entered={entered}
          retry={() => {
            setAttempt(attempt + 1);
          }}
        >
          <EvidenceForm
            choice={choice}
            setChoice={(choice) => {
              setChoice(choice);
              if (userID !== undefined) go(addressOf(userID, choice.source));
              setAttempt(attempt + 1);
              goToVerdict();
            }}
          />
        </VerificationView>
      )}
    </>
  );
}

interface VerifyPageProps {
  id: string;
  /** The key that the visitor entered on the start page, to compare with the published one. Empty for none. */
  entered: string;
  choice: EvidenceChoice;
  setChoice: (choice: EvidenceChoice) => void;
}
