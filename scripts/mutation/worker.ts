/**
 * Runs the contract's tests against mutants. The parent process sends the source of one mutant at a time. The worker
 * answers with the full title of the first test that failed, `null` if none failed, or `"does not compile"`.
 *
 * The tests are the project's own, on a simulated chain. Only the artifact that they deploy is replaced by that of the
 * mutant. Mutants with endless loops run out of gas.
 */
import hre from "hardhat";
import type { Artifact } from "hardhat/types/artifacts";
import Mocha from "mocha";
import { fileURLToPath } from "node:url";
import { compileContract } from "./compile.ts";

const TESTS = fileURLToPath(new URL("../../test/contracts/PublicKeyRegistry.test.ts", import.meta.url));

export type MutantResult = string | null;

let mutant: { abi: unknown[]; bytecode: string } | undefined;

const readArtifact = hre.artifacts.readArtifact.bind(hre.artifacts);
const create = hre.network.create.bind(hre.network);
const connections: Awaited<ReturnType<typeof create>>[] = [];
Object.assign(hre.artifacts, {
  async readArtifact(name: string): Promise<Artifact> {
    const artifact = await readArtifact(name);
    return name.endsWith("PublicKeyRegistry") ? ({ ...artifact, ...mutant } as Artifact) : artifact;
  },
});
Object.assign(hre.network, {
  async create(...options: Parameters<typeof create>) {
    const connection = await create(...options);
    connections.push(connection);
    return connection;
  },
});

// Mocha's report goes to standard output, which the parent process ignores.
const mocha = new Mocha({ bail: true, timeout: 0 });
mocha.addFile(TESTS);
await mocha.loadFilesAsync();
mocha.cleanReferencesAfterRun(false);

async function test(source: string): Promise<MutantResult> {
  mutant = await compileContract(source);
  if (mutant === undefined) return "does not compile";
  // Otherwise the fixtures would restore a snapshot with the previous mutant's contract.
  for (const { networkHelpers } of connections) networkHelpers.clearSnapshots();
  return await new Promise<MutantResult>((resolve) => {
    let failed: MutantResult = null;
    const runner = mocha.run(() => {
      resolve(failed);
    });
    runner.on("fail", (test) => {
      failed ??= test.fullTitle();
    });
  });
}

process.on("message", (source: string) => {
  void test(source).then((result) => process.send?.(result));
});
process.send?.("ready");
