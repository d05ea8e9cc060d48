/**
 * Attacks verifications of a key in a real registry. It changes answers at random, and replaces some with answers of an
 * attacker's registry. The attacker stays within the limits in which each trust choice promises security.
 *
 *     npm run fuzz:answers                     20,000 attacks on each trust choice
 *     npm run fuzz:answers -- CHOICE           only one, such as lightClient or "auditors, bundle"
 *     npm run fuzz:answers -- --attacks N      this many attacks on each
 *     npm run fuzz:answers -- --seed N         repeats a run
 *
 * The exit code is 1 if a false key was accepted, or if an error was not a Keyroot error.
 */
import { parseArgs } from "node:util";
import { attackChoice } from "./attackChoice.ts";
import { startBattlefield } from "./choices.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    attacks: { type: "string", default: "20000" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});

await using battlefield = await startBattlefield();
for (const name of positionals.length > 0 ? positionals : Object.keys(battlefield.choices)) {
  const report = await attackChoice(battlefield, name, { attacks: Number(values.attacks), seed: Number(values.seed) });
  const { attacks, accepted, falselyAccepted, unexpected, codes, defect } = report;
  const refused = [...codes].sort(([, a], [, b]) => b - a).map(([code, count]) => `${code} ${count}`);
  process.stdout.write(
    `${name}: ${attacks} attacks, ${falselyAccepted} false keys accepted, ${accepted} true keys accepted, ` +
      `${unexpected} unexpected errors, seed ${values.seed}\n  ${refused.join(", ")}\n`,
  );
  if (defect === undefined) continue;
  process.stderr.write(`A defect with ${name}:\n${defect}\n`);
  process.exitCode = 1;
}
