import { useState } from "preact/hooks";
import { shorten } from "../shared/text.ts";
import { config } from "./config.ts";
import { defaultChoice, type EvidenceChoice, optionsFor } from "./evidenceChoice.ts";
import { EvidenceForm } from "./evidenceForm.tsx";
import { SearchForm } from "../shared/searchForm.tsx";
import { readUserID } from "../shared/userIDInput.ts";
import { useVerification } from "./useVerification.ts";
import { goToVerdict } from "./verdict.tsx";
import { VerificationView } from "./verificationView.tsx";
import { Terms } from "./terms.tsx";

/** The start page. */
export function HomePage() {
  const { samples = [], attacks = [] } = config;
  return (
    <>
      <section class="hero">
        <h1>Is this really their key?</h1>
        <p class="lead">
          Others encrypt messages to you with your <dfn>public key</dfn>. The server that hands it out can hand out a
          wrong one. Here you check a key yourself: your browser reads a <dfn>blockchain</dfn>, a public record that
          many computers keep, verifies every step, and says what each step relies on.
        </p>
        <SearchForm page="verify" action="Verify" />
      </section>
      {samples.length > 0 && (
        <section class="card" aria-labelledby="samples-title">
          <h2 id="samples-title">Try a sample user</h2>
          <ul class="samples">
            {samples.map((userID) => (
              <li key={userID}>
                <a href={`#/verify/${userID}`}>
                  <code>{shorten(userID, 10, 6)}</code>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <div class="columns columns-three">
        <section class="card">
          <h2>Published once</h2>
          <p>
            A key is published in a list. A <dfn>contract</dfn>, a program on the blockchain, keeps a fingerprint of
            each list. It can never be changed, not even by the contract’s owner.
          </p>
        </section>
        <section class="card">
          <h2>Checked by you</h2>
          <p>
            The page runs Keyroot’s own verifier. Every step says what was checked and what it relies on, and shows
            where a forgery fails.
          </p>
        </section>
        <section class="card">
          <h2>Also offline</h2>
          <p>
            Someone sent you a <dfn>bundle</dfn>, a file that proves a key? <a href="#/bundle">Verify it</a> without
            asking any server.
          </p>
        </section>
      </div>
      {attacks.length > 0 && (
        <section class="card callout" aria-labelledby="attack-title">
          <h2 id="attack-title">Try the attack</h2>
          <p>
            On this local stack, an attacker’s servers are waiting. Let them lie to your browser in {attacks.length}{" "}
            ways, and see where each lie is caught.
          </p>
          <a class="button" href="#/attacks">
            See the attacks
          </a>
        </section>
      )}
    </>
  );
}

/** The verification of a user's key. */
export function VerifyPage({ id, choice, setChoice }: { id: string } & ChoiceProps) {
  const [attempt, setAttempt] = useState(0);
  const read = readUserID(id);
  const userID = "userID" in read ? read.userID : undefined;
  const verification = useVerification(userID, optionsFor(choice), attempt);
  return (
    <>
      <h1>Verify a key</h1>
      <SearchForm key={id} initial={id} page="verify" action="Verify" />
      {verification && (
        <VerificationView
          key={userID}
          verification={verification}
          retry={() => {
            setAttempt(attempt + 1);
          }}
        >
          <EvidenceForm
            choice={choice}
            setChoice={(choice) => {
              setChoice(choice);
              setAttempt(attempt + 1);
              goToVerdict();
            }}
          />
        </VerificationView>
      )}
    </>
  );
}

interface ChoiceProps {
  choice: EvidenceChoice;
  setChoice: (choice: EvidenceChoice) => void;
}

/** The list of attacks. */
export function AttacksPage() {
  const { attacks = [] } = config;
  return (
    <>
      <h1>Try the attack</h1>
      <p class="lead">
        An attacker sits between your browser and the servers, and tries to make it accept a wrong key. Everything else
        stays the same: the same page, the same verifier, the same contract.
      </p>
      <Terms />
      <p class="terms">
        Such a file is a <dfn>batch</dfn>. Its <dfn>leaves</dfn> are fingerprints of single records, from which the root
        is computed.
      </p>
      <ul class="cards">
        {attacks.map(({ name, description, expectedCode }) => (
          <li key={name} class="card">
            <h2>{title(name)}</h2>
            <p>{capitalize(description)}.</p>
            <p class="detail">
              Must fail with <code>{expectedCode}</code>
            </p>
            <a class="button" href={`#/attack/${name}`}>
              Let it attack<span class="visually-hidden">: {title(name)}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** One attack, and where it fails. */
export function AttackPage({ name }: { name: string }) {
  const [attempt, setAttempt] = useState(0);
  const attack = config.attacks?.find((candidate) => candidate.name === name);
  const options = {
    ...optionsFor(defaultChoice()),
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
          <section class="card" aria-labelledby="honest-title">
            <h2 id="honest-title">The same user, honestly</h2>
            <p>
              Without the attacker, the same verifier accepts the published key.{" "}
              <a href={`#/verify/${attack.userID}`}>Verify this user with the real servers</a>
            </p>
          </section>
        </VerificationView>
      )}
    </>
  );
}

export function NotFoundPage() {
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        <a href="#/">Go to the start page</a>
      </p>
    </>
  );
}

function title(name: string): string {
  return capitalize(name.replaceAll("-", " "));
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
