import { expect } from "chai";
import { Transaction } from "ethers";
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { serializeKeyRecord } from "keyroot/internal/identity";
import { type Lie, startEndpoint } from "../../support/chain/lyingEndpoint.ts";
import { sampleRecords } from "../../support/samples.ts";
import { serve } from "../../support/servers/servers.ts";
import { closedAfterEach, temporaryFolder } from "../../support/support.ts";
import { freshRegistry } from "../../support/chain/freshRegistry.ts";
import { OWNER_KEY } from "../../support/chain/local.ts";
import { environment, hardhat, npxHardhat, optionsOf, outcomeOf } from "../../support/processes/commandLine.ts";

describe("commands in Hardhat", () => {
  const fresh = freshRegistry();

  it("use the network of --network and its configuration variables", async () => {
    const env = { KEYROOT_RPC_URL: fresh.rpcUrl, KEYROOT_OWNER_KEY: OWNER_KEY };
    const { code, json } = await npxHardhat.json(["status", "--network", "live", "--contract", fresh.contract], {
      env,
    });
    expect(code).to.equal(0);
    expect(json).to.include({ contract: fresh.contract, chainId: fresh.chainId, owner: fresh.owner });
  });

  it("exit with code 2 if both --network and --rpc are set", async () => {
    const env = { KEYROOT_RPC_URL: fresh.rpcUrl, KEYROOT_OWNER_KEY: OWNER_KEY };
    const args = ["status", "--network", "live", "--rpc", fresh.rpcUrl, "--contract", fresh.contract];
    expect(await hardhat.json(args, { env })).to.include({ code: 2, error: "ARGUMENT_INVALID" });
  });

  it("exit with code 2 for a network that the project does not have", async () => {
    const refused = await hardhat.json(["status", "--network", "nowhere", "--contract", fresh.contract]);
    expect(refused).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    expect(refused.message).to.contain("nowhere");
  });

  it("exit with code 2 for invalid arguments after Hardhat's own options", async () => {
    const [node, cli, task] = npxHardhat.words;
    const args = [cli ?? "", "--network", "live", task ?? "", "status", "--an-unknown-option"];
    expect(await outcomeOf(spawn(node, args, { env: environment({}) }))).to.include({ code: 2, stdout: "" });
  });

  describe("with a hostile endpoint in --network", () => {
    const closing = closedAfterEach();
    const folder = temporaryFolder();
    const records = () => join(folder.path, "users.jsonl");

    /** Runs `publish` on the network `live`, with the URL of the endpoint. */
    const publish = async (url: string) => {
      await writeFile(records(), sampleRecords(2).map(serializeKeyRecord).join("\n"));
      const options = {
        ...{ network: "live", contract: fresh.contract, "chain-id": String(fresh.chainId) },
        ...{
          "merkle-url": fresh.merkleUrl,
          records: records(),
          files: fresh.filesDir,
          plan: join(folder.path, "plan"),
        },
        ...{ "max-fee": "20", timeout: "5" },
      };
      const env = { KEYROOT_RPC_URL: url, KEYROOT_OWNER_KEY: OWNER_KEY };
      const args = ["publish", ...optionsOf(options)];
      return hardhat.jsonLines(args, { env });
    };
    /** Starts an endpoint that returns false responses, and records the transactions that it receives. */
    const lying = async (lie: Lie) => {
      const sent: { method: string; params: readonly unknown[] }[] = [];
      const endpoint = closing(await startEndpoint(fresh.rpcUrl));
      endpoint.lie = (method, params, truth) => {
        if (method.startsWith("eth_send")) sent.push({ method, params });
        return lie(method, params, truth);
      };
      return { url: endpoint.url, sent };
    };

    it("send nothing if the endpoint's chain id differs from --chain-id", async () => {
      const { url, sent } = await lying((method, params, truth) =>
        method === "eth_chainId" ? "0x1" : truth(method, params),
      );
      expect(await publish(url)).to.include({ code: 1, error: "CHAIN_ID_MISMATCH" });
      expect(sent).to.be.empty;
    });

    it("sign no transaction for a different chain that the endpoint reports later", async () => {
      const counts = [];
      for (const honest of [2, 3]) {
        let asked = 0;
        const { url, sent } = await lying((method, params, truth) =>
          method === "eth_chainId" && ++asked > honest ? "0x1" : truth(method, params),
        );
        await publish(url);
        for (const { method, params } of sent) {
          expect(method).to.equal("eth_sendRawTransaction");
          expect(Transaction.from(String(params[0])).chainId).to.equal(BigInt(fresh.chainId));
        }
        counts.push(sent.length);
      }
      // After the third true response, the transaction is signed for the chain of --chain-id.
      expect(counts).to.deep.equal([0, 1]);
    });

    it("follow no redirects", async () => {
      let followed = 0;
      const other = closing(await serve((_, response) => void (followed++, response.end("{}"))));
      const { url } = closing(await serve((_, response) => response.writeHead(307, { Location: other.url }).end()));
      expect(await publish(url)).to.include({ code: 3, error: "RPC_ERROR" });
      expect(followed).to.equal(0);
    });

    it("reject a response of 32 MiB", async () => {
      const { url } = await lying((method, params, truth) =>
        method === "eth_chainId" ? `0x${"0".repeat(2 ** 25)}` : truth(method, params),
      );
      const env = { KEYROOT_RPC_URL: url, KEYROOT_OWNER_KEY: OWNER_KEY };
      const ran = await hardhat.json(["status", "--network", "live", "--contract", fresh.contract], { env });
      expect(ran).to.include({ code: 3, error: "RPC_ANSWER_INVALID" });
    });
  });
});
