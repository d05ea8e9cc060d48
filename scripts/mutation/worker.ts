/**
 * Runs the contract's tests against one mutant after the other, each sent by the parent process as its source. Answers with
 * the title of the test that failed first, `null` when none did, `"does not compile"` where there is nothing to test.
 *
 * The tests are the project's own, on a simulated chain: only the artifact that they deploy is the mutant's. What loops for
 * ever runs out of gas.
 */
import hre from "hardhat";
import type { Artifact } from "hardhat/types/artifacts";
import Mocha from "mocha";
import { fileURLToPath } from "node:url";
import { compileContract } from "./compile.ts";

const TESTS = fileURLToPath(new URL("../../test/contracts/PublicKeyRegistry.test.ts", import.meta.url));

export type Answer = string | null;

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

// The parent process does not read the report: the answer is all.
const mocha = new Mocha({ bail: true, timeout: 20_000 });
mocha.addFile(TESTS);
await mocha.loadFilesAsync();
mocha.cleanReferencesAfterRun(false);

async function test(source: string): Promise<Answer> {
  mutant = await compileContract(source);
  if (mutant === undefined) return "does not compile";
  // Else the fixtures would bring back the contract of the mutant before.
  for (const { networkHelpers } of connections) networkHelpers.clearSnapshots();
  return await new Promise<Answer>((resolve) => {
    let failed: Answer = null;
    const runner = mocha.run(() => {
      resolve(failed);
    });
    runner.on("fail", (test) => {
      failed ??= test.fullTitle();
    });
  });
}

process.on("message", (source: string) => {
  void test(source).then((answer) => process.send?.(answer));
});
process.send?.("ready");
