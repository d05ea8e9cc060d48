import { shorten } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { config } from "../shared/config.ts";
import { CompareForm } from "./compareForm.tsx";
import { RegistryCard } from "./registryCard.tsx";

/** The start page: the search form and the registry that this explorer reads. */
export function HomePage({ setEntered }: { setEntered: (key: string) => void }) {
  const { samples = [], attacks } = config;
  return (
    <>
      <section class="hero">
        <h1>Is this really their key?</h1>
        <p class="lead">
          Check a user’s <Term of="public key" /> yourself. Your browser verifies every step, and shows what each rests
          on.
        </p>
        <CompareForm setEntered={setEntered} />
        {samples.length > 0 && (
          <p class="samples">
            Sample users:{" "}
            {samples.slice(0, 4).map((userID) => (
              <a key={userID} href={`#/verify/${userID}`}>
                <code>{shorten(userID)}</code>
              </a>
            ))}
          </p>
        )}
      </section>
      <div class="columns columns-even">
        <RegistryCard />
      </div>
      <p>
        You have many contacts? <a href="#/list">Verify your whole list.</a> You have a <Term of="bundle" />?{" "}
        <a href="#/bundle">Verify it</a> without any server.
        {attacks && (
          <>
            {" "}
            On this local stack, somebody cheats in {attacks.list.length} ways.{" "}
            <a href="#/attacks">Run all attacks in your browser.</a>
          </>
        )}
      </p>
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
