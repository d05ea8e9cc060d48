import { expect } from "chai";
import hre from "hardhat";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { execFile } from "node:child_process";
import { HDNodeWallet } from "ethers";
import { type Stack, startStack } from "../../../packages/service/src/stack/startStack.ts";
import { TEST_CHECKPOINT } from "../../../packages/operator/src/testing/testCheckpoint.ts";
import { stackPorts, takenPortsLine } from "../../../packages/service/src/stack/stackPorts.ts";
import { rpc } from "../../support/support.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");
const page = await readFile(join(ROOT, "docs/quickstart.md"), "utf8");
/** Returns the value in a row of the page's first table, without backticks. */
const valueOf = (row: string) => new RegExp(`^\\| ${row} +\\| .*?\`([^\`]+)\``, "m").exec(page)?.[1];

describe("addresses in docs/quickstart.md", () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
  });
  after(() => stack.close());

  it("are those of the local system's ports, chain, registry and owner", async () => {
    const { chain, files, service } = stackPorts(Number(new URL(valueOf("JSON-RPC") ?? "").port));
    expect([chain, files, service]).to.deep.equal([8545, 8546, 8547]);
    expect(valueOf("Checkpoint")).to.equal(TEST_CHECKPOINT);
    expect(page).to.match(/^\| Chain id +\| 31337 +\|$/m);
    expect(stack).to.include({ chainId: 31_337, contract: valueOf("Registry") });
    const owner = await rpc(stack.rpcUrl, "eth_call", [{ to: stack.contract, data: "0x8da5cb5b" }, "latest"]);
    expect(String(owner).slice(-40)).to.equal(valueOf("Registry's owner")?.slice(2).toLowerCase());
    const wallet = HDNodeWallet.fromPhrase(valueOf("Recovery phrase") ?? "");
    expect([wallet.address, wallet.privateKey]).to.deep.equal([
      valueOf("Registry's owner"),
      valueOf("Owner's private key"),
    ]);
  });

  it("are said to be in use if a part of the stack has another port", () => {
    const at = (port: number) => `http://127.0.0.1:${port}`;
    expect(
      takenPortsLine([
        [8545, at(8545)],
        [undefined, undefined],
        [0, at(51_234)],
      ]),
    ).to.equal("");
    expect(
      takenPortsLine([
        [8545, at(8550)],
        [8546, at(8546)],
      ]),
    ).to.match(/^Port 8545 is in use\. In the programs /);
    expect(
      takenPortsLine([
        [8545, at(8550)],
        [8546, at(8551)],
      ]),
    ).to.match(/^Ports 8545 and 8546 are in use\. /);
  });

  it("have an example that adds a root with the owner's key", async () => {
    const [, example = ""] = /^```ts\n([^]*?)^```/m.exec(page) ?? [];
    const args = ["--input-type=module-typescript", "--eval", example.replace("http://127.0.0.1:8545", stack.rpcUrl)];
    const { stdout } = await run(process.execPath, args, { cwd: ROOT });
    expect(stdout).to.equal(`${valueOf("Registry's owner")} 0x${"ab".repeat(32)}\n`);
  });
});
