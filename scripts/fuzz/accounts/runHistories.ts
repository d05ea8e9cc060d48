/**
 * Verifies keys in random histories of accounts with a hostile operator, a hostile host and a thief. The results of the
 * verifier are compared with the reference model of `test/support/account/accountModel.ts`.
 *
 *     npm run fuzz:accounts                      1,000,000 histories
 *     npm run fuzz:accounts -- --histories N     this many histories
 *     npm run fuzz:accounts -- --seed N          repeats a run
 *
 * Each tenth history is also read several times with a cache. The exit code is 1 in these cases:
 *
 * - a key was accepted that is outdated or that the owner did not authorize;
 * - a verdict differs from the model's verdict;
 * - no key was accepted.
 */
import { parseArgs } from "node:util";
import { type Outcome, runCachedHistories, runHistories } from "../../../test/support/account/accountReader.ts";

/** After this many histories, the script prints how far it is. */
const BATCH = 50_000;

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "1000000" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const [histories, seed] = [Number(values.histories), Number(values.seed)];

const single = new Map<string, number>();
const cached = new Map<string, number>();
let defect: string | undefined;
for (let done = 0; done < histories; done += BATCH) {
  const count = Math.min(BATCH, histories - done);
  add(single, await runHistories(count, seed + done));
  add(cached, await runCachedHistories(Math.ceil(count / 10), seed + done));
  process.stdout.write(
    `${done + count} histories, seed ${seed}\n  ${describe(single)}\n  cached: ${describe(cached)}\n`,
  );
}
if (defect !== undefined) process.stderr.write(`A defect: ${defect}\n`);
const isProof = (single.get("accepted") ?? 0) > 0 && (cached.get("accepted") ?? 0) > 0;
process.exitCode = defect === undefined && isProof ? 0 : 1;

function add(totals: Map<string, number>, { refused, first, ...counts }: Outcome): void {
  for (const [name, count] of Object.entries({ ...counts, ...refused }))
    totals.set(name, (totals.get(name) ?? 0) + count);
  defect ??= first;
}

function describe(totals: ReadonlyMap<string, number>): string {
  return [...totals].map(([name, count]) => `${name} ${count}`).join(", ");
}
