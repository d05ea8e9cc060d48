import type { ExplorerAttack, ExplorerAttacks } from "@keyroot/operator/explorer";
import { useState } from "preact/hooks";
import { formatCount, plural } from "../../shared/format.ts";
import { Icon, type IconName } from "../../shared/icon.tsx";
import { Term } from "../../shared/term.tsx";
import { config } from "../shared/config.ts";
import { RetryButton, Verdict } from "../shared/verdict.tsx";
import { sourceNamed } from "../verify/sources.ts";
import { type AttackedSource, type AttackResult, type AttackState, useAttacks } from "./useAttacks.ts";

const SOURCES: readonly AttackedSource[] = config.lightClient ? ["one-endpoint", "light-client"] : ["one-endpoint"];

const ICONS: Readonly<Record<AttackState, IconName | undefined>> = {
  waiting: undefined,
  running: undefined,
  rejected: "check",
  fooled: "cross",
  unaffected: "check",
  failed: "warning",
};

/** Runs all attacks of a local stack in the visitor's browser, and shows each one's result and time. */
export function AttackBoard({ attacks }: { attacks: ExplorerAttacks }) {
  const [source, setSource] = useState<AttackedSource>(SOURCES.at(-1) ?? "one-endpoint");
  const [run, setRun] = useState(0);
  const results = useAttacks(attacks, source, run);
  const groups = Object.groupBy(attacks.list, ({ attacker }) => attacker);
  return (
    <>
      <h1>All attacks, live</h1>
      <p class="lead">
        Somebody cheats to make your browser accept a wrong <Term of="public key" />: a server, an{" "}
        <Term of="endpoint" /> of the <Term of="chain" />, the operator of the <Term of="contract" />, or a thief. The
        page and its verifier stay the same. An attack forges a <Term of="root" />, a <Term of="block" />, its{" "}
        <Term of="hash" />, a <Term of="batch" />, a <Term of="leaf" /> or a <Term of="record" />.
      </p>
      {SOURCES.length > 1 && (
        <fieldset class="switch">
          <legend>Your browser trusts</legend>
          {SOURCES.map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="trust"
                checked={name === source}
                onChange={() => {
                  setSource(name);
                }}
              />
              {sourceNamed(name).label}
            </label>
          ))}
        </fieldset>
      )}
      <Summary
        results={attacks.list.map(({ name }) => results[name])}
        source={source}
        retry={() => {
          setRun(run + 1);
        }}
      />
      <table class="attacks">
        <thead>
          <tr>
            <th scope="col">Attack</th>
            <th scope="col">What happens</th>
            <th scope="col">Result</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        {Object.entries(groups).map(([attacker, group = []]) => (
          <tbody key={attacker}>
            <tr>
              <th scope="rowgroup" colSpan={4}>
                {attacker}
              </th>
            </tr>
            {group.map((attack) => (
              <AttackRow key={attack.name} attack={attack} result={results[attack.name]} />
            ))}
          </tbody>
        ))}
      </table>
      <p class="detail">
        In the terminal, <code>npm start</code> also attacks the registration of keys. Such an attack sends requests to
        the service, and a verifier never does.
      </p>
    </>
  );
}

interface SummaryProps {
  results: readonly (AttackResult | undefined)[];
  source: AttackedSource;
  retry: () => void;
}

function Summary({ results, source, retry }: SummaryProps) {
  const count = (state: AttackState) => results.filter((result) => result?.state === state).length;
  const isOver = results.every((result) => result?.duration !== undefined);
  if (!isOver)
    return (
      <Verdict tone="busy" isTall title={`${plural(results.length, "attack")} are running`}>
        <p>Each row shows how your browser decides, and how long it takes.</p>
      </Verdict>
    );
  const seconds = results.reduce((sum, result) => sum + (result?.duration ?? 0), 0) / 1000;
  const [fooled, failed, unaffected] = [count("fooled"), count("failed"), count("unaffected")];
  const time = `${seconds.toFixed(1)} s`;
  if (failed > 0)
    return (
      <Verdict tone="open" isTall title={`${plural(failed, "attack")} could not be run`}>
        <p>The attacker’s servers did not answer as expected.</p>
        <RetryButton retry={retry} />
      </Verdict>
    );
  if (fooled > 0)
    return (
      <Verdict tone="bad" isTall title={`${plural(fooled, "attack")} fooled your browser`}>
        <p>
          {formatCount(count("rejected"))} were rejected, in {time}. One endpoint can lie about the chain: nobody else
          is asked.{SOURCES.length > 1 && " Choose the light client, and run them again."}
        </p>
        <RetryButton retry={retry} />
      </Verdict>
    );
  return (
    <Verdict tone="good" isTall title={`${plural(results.length, "attack")}, no false key accepted`}>
      <p>
        Your browser decided in {time}
        {source === "light-client" && ", with a block that Ethereum’s sync committee signed"}.
        {unaffected > 0 && ` ${formatCount(unaffected)} had no effect.`}
      </p>
      <RetryButton retry={retry} />
    </Verdict>
  );
}

function AttackRow({ attack, result }: { attack: ExplorerAttack; result: AttackResult | undefined }) {
  const { name, description } = attack;
  const { state, code, duration } = result ?? { state: "waiting" };
  const icon = ICONS[state];
  return (
    <tr class={`attack attack-${state}`} data-attack={name} data-state={state}>
      <th scope="row">
        <span class="step-mark">{icon && <Icon name={icon} />}</span>
        {capitalize(name.replaceAll("-", " "))}
      </th>
      <td>{capitalize(description)}</td>
      <td class="attack-result">{textOf(state, code)}</td>
      <td class="attack-time">{duration === undefined ? "" : `${Math.round(duration)} ms`}</td>
    </tr>
  );
}

function textOf(state: AttackState, code = "") {
  switch (state) {
    case "waiting":
      return "";
    case "running":
      return "…";
    case "fooled":
      return <b>Fooled: the false key is accepted</b>;
    case "unaffected":
      return "No effect: nobody asked this server";
    case "rejected":
    case "failed":
      return <code>{code}</code>;
  }
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
