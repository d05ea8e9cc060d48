import { expect } from "chai";
import hre from "hardhat";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { serializeKeyRecord } from "keyroot/internal/identity";
import { startStack, type Stack } from "../../../packages/service/src/stack/startStack.ts";
import { OWNER_KEY } from "../../support/chain/local.ts";
import { hardhat } from "../../support/processes/commandLine.ts";
import { sampleRecords } from "../../support/samples.ts";
import { rpc, temporaryFolder } from "../../support/support.ts";

describe("commands while a local stack runs", () => {
  const folder = temporaryFolder();
  const { KEYROOT_STACK_FILE } = process.env;
  let stack: Stack;
  let env: NodeJS.ProcessEnv;

  beforeEach(async () => {
    const stackFile = join(folder.path, "stack.json");
    process.env["KEYROOT_STACK_FILE"] = stackFile;
    stack = await startStack(hre, { ports: { chain: 0, files: 0 }, announce: true });
    // The stack's chain under another name of this machine, as the network `localhost` names it.
    const localhost = stack.rpcUrl.replace("127.0.0.1", "localhost");
    env = { KEYROOT_STACK_FILE: stackFile, KEYROOT_OWNER_KEY: OWNER_KEY, KEYROOT_RPC_URL: localhost };
  });
  afterEach(async () => {
    await stack.close();
    if (KEYROOT_STACK_FILE === undefined) delete process.env["KEYROOT_STACK_FILE"];
    else process.env["KEYROOT_STACK_FILE"] = KEYROOT_STACK_FILE;
  });

  for (const [name, options, variables] of [
    ["without options", [], { KEYROOT_RPC_URL: undefined }],
    ["with the stack's endpoint in --rpc", ["--chain-id", "31337"], {}],
    ["with the stack's endpoint in --network", ["--network", "live"], {}],
  ] as const)
    it(`deploy prints the stack's registry and sends nothing, ${name}`, async () => {
      const { code, json } = await hardhat.json(["deploy", ...options], { env: { ...env, ...variables } });
      expect([code, json]).to.have.nested.property("[1].contract", stack.contract);
      expect([code, json["existed"]]).to.deep.equal([0, true]);
      expect(await rpc(stack.rpcUrl, "eth_blockNumber")).to.equal("0x1");
    });

  it("publish needs no --max-fee with a network on this machine and the id of a development chain", async () => {
    const records = join(folder.path, "users.jsonl");
    await writeFile(records, sampleRecords(2).map(serializeKeyRecord).join("\n"));
    const args = ["publish", "--network", "live", "--records", records, "--plan", join(folder.path, "plan")];
    const { code, stdout } = await hardhat.run(args, { env });
    expect(stdout).to.include("Published 2 users, 0 already published.");
    expect(code).to.equal(0);
    const other = await hardhat.json(["publish", "--network", "live", "--chain-id", "1"], { env });
    expect(other.message).to.include("--max-fee");
  });
});
