import { useState } from "preact/hooks";
import { shorten } from "../../shared/format.ts";
import { NotFoundPage } from "../home/homePage.tsx";
import { config } from "../shared/config.ts";
import { Term } from "../../shared/term.tsx";
import { defaultChoice, optionsFor } from "../verify/evidenceChoice.ts";
import { useVerification } from "../verify/useVerification.ts";
import { VerificationView } from "../verify/verificationView.tsx";

export function AttacksPage() {
  const { attacks = [] } = config;
  return (
    <>
      <h1>Try the attack</h1>
      <p class="lead">
        An attacker controls the <Term of="endpoint" /> and the file host, and tries to make your browser accept a wrong
        key. The page, the verifier, the <Term of="chain" /> and the <Term of="contract" /> stay the same. Each attack
        forges a <Term of="root" />, a <Term of="batch" />, its <Term of="leaf">leaves</Term> or a <Term of="record" />.
      </p>
      <ul class="cards">
        {attacks.map(({ name, description, expectedCode }) => (
          <li key={name} class="card">
            <h2>{title(name)}</h2>
            <p>{capitalize(description)}.</p>
            <p class="detail">
              Expected error: <code>{expectedCode}</code>
            </p>
            <a class="button" href={`#/attack/${name}`}>
              Start the attack<span class="visually-hidden">: {title(name)}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The page of one attack. The page shows the step at which the attack fails. */
export function AttackPage({ name }: { name: string }) {
  const [attempt, setAttempt] = useState(0);
  const attack = config.attacks?.find((candidate) => candidate.name === name);
  const options = {
    // The attacker is the only endpoint in this verification.
    ...optionsFor({ ...defaultChoice(), source: "one-endpoint" }),
    isAttack: true,
    ...(attack && { rpc: attack.rpc, merkleUrl: attack.merkleUrl, expectedPublicKey: attack.expectedPublicKey }),
  };
  const verification = useVerification(attack?.userID, options, attempt);
  if (attack === undefined) return <NotFoundPage />;
  return (
    <>
      <p class="back">
        <a href="#/attacks">All attacks</a>
      </p>
      <h1>Attack: {title(name).toLowerCase()}</h1>
      <p class="lead">
        {capitalize(attack.description)}. Your browser now asks the attacker’s servers about the user{" "}
        <code>{shorten(attack.userID, 8, 6)}</code>.
      </p>
      {verification && (
        <VerificationView
          key={name}
          verification={verification}
          retry={() => {
            setAttempt(attempt + 1);
          }}
        >
          <p>
            With the real servers, the same verifier accepts the published key.{" "}
            <a href={`#/verify/${attack.userID}`}>Verify this user without the attack</a>
          </p>
        </VerificationView>
      )}
    </>
  );
}

function title(name: string): string {
  return capitalize(name.replaceAll("-", " "));
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
