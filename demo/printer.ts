/** The output of the demo, step by step. */
import { plural, style } from "@keyroot/operator/commands";
import type { Stack } from "@keyroot/service/stack";
import type { DemoListener } from "./runDemo.ts";

/** Returns a listener that prints each step of the demo. */
export function printer(print: (text: string) => void): DemoListener {
  let group: string | undefined;
  return {
    provisioned: ({ bizID, serverToken, users }) => {
      print(heading(2, "A partner's server creates its users. Each user's app registers a public key."));
      print(`     biz_id        ${bizID}`);
      print(`     server token  ${serverToken}  (shown once)`);
      for (const [region, some] of Map.groupBy(users, (user) => user.region)) {
        print(
          `     ${region.padEnd(13)} ${plural(some.length, "user")}, each with a refresh token and a registered key`,
        );
      }
    },
    registrations: (attacks) => {
      print(heading(3, "An attacker with a stolen token registers false keys, before anything is published:"));
      for (const { attack, description, outcome } of attacks) print(attackLine(attack, outcome, description));
    },
    published: (batches) => {
      print(heading(4, "The service publishes the keys, one batch per region: first the file, then its root."));
      for (const { root, users, block } of batches)
        print(`     ${root}\n       ${plural(users, "user")} in block ${block}`);
    },
    verified: (count) => {
      print(
        heading(5, "A contact's app, in separate processes, verifies each key against the chain. It trusts no server."),
      );
      print(`     ${style("success", "verified")} ${count} of ${count}`);
      print(
        heading(6, "An attacker, another process, sits between the app and the servers. The app rejects:").trimEnd(),
      );
    },
    rejected: ({ attacker, name, description }, code) => {
      if (attacker !== group) print(`\n     ${attacker}`);
      group = attacker;
      print(attackLine(name, code, description));
    },
  };
}

/**
 * Returns the line of an attack: a mark, the attack's name, and what the app or the service reported. The description
 * follows if the terminal has room for it.
 */
function attackLine(name: string, outcome: string, description: string): string {
  const { isTTY, columns } = process.stdout;
  const isNarrow = isTTY && columns < WIDE;
  const reported = style("success", isNarrow ? outcome : outcome.padEnd(OUTCOME));
  const line = `     ${style("success", "✓")} ${name.padEnd(NAME)} ${reported}`;
  return isNarrow ? line : `${line} ${description}`;
}

/** The widths of two columns. */
const NAME = 18;
const OUTCOME = 22;
/** The width of a terminal that has room for all descriptions. */
const WIDE = 105;

function heading(step: number, text: string): string {
  return `\n${style("heading", `${step}  ${text}`)}\n`;
}

/** Returns the text about the stack, which is printed before the demo. */
export function stackLines({ rpcUrl, merkleUrl, contract, chainId, beaconUrl, service }: Stack): string {
  return [
    heading(1, "A chain, the registry, a file host, a beacon endpoint and the partner service run on this machine."),
    `     JSON-RPC      ${style("link", rpcUrl)}  (chain ${chainId})`,
    `     registry      ${contract}`,
    `     Merkle files  ${style("link", merkleUrl)}`,
    `     beacon        ${style("link", beaconUrl ?? "")}  (simulated)`,
    `     service       ${style("link", service?.serviceUrl ?? "")}`,
    `     API           ${style("link", `${service?.serviceUrl}/docs`)}`,
  ].join("\n");
}
