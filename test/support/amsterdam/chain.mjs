// Serves a local chain with the rules of the Amsterdam fork, whose blocks have 60 million gas, as on Ethereum. Its
// arguments are the folder with the engine's node_modules, and the gas limit of a transaction.
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const [, , folder = "", transactionGas = ""] = process.argv;
const edr = createRequire(join(folder, "package.json"))("@nomicfoundation/edr");
const FORK = "amsterdam";
const BLOCK_GAS = 60_000_000n;
/** The first development account of Hardhat and Anvil. */
const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const ACCOUNT = Buffer.from("f39fd6e51aad88f6f4ce6ab8827279cfffb92266", "hex");

const context = new edr.EdrContext();
await context.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory());
const account = { address: ACCOUNT, balance: 10n ** 24n, nonce: 0n, storage: [] };
const config = {
  ...{ chainId: 31337n, networkId: 31337n, hardfork: FORK, coinbase: Buffer.alloc(20, 1), ownedAccounts: [KEY] },
  ...{ allowBlocksWithSameTimestamp: false, allowUnlimitedContractSize: false, precompileOverrides: [] },
  ...{ bailOnCallFailure: true, bailOnTransactionFailure: true, observability: {} },
  ...{ defaultTransactionGasLimit: BigInt(transactionGas), transactionGasCap: BigInt(transactionGas) },
  ...{ initialBaseFeePerGas: 10n ** 9n, minGasPrice: 0n, initialParentBeaconBlockRoot: Buffer.alloc(32) },
  mining: { autoMine: true, blockGasLimit: BLOCK_GAS, memPool: { order: "Priority" } },
  network: { genesisBlockGasLimit: BLOCK_GAS, genesisBlockTime: BigInt(Math.floor(Date.now() / 1000)) },
  genesisState: [...edr.l1GenesisState(edr.l1HardforkFromString(FORK)), account],
};
const logger = { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => undefined };
const subscription = { subscriptionCallback: () => undefined };
const decoder = new edr.ContractDecoder();
const provider = await context.createProvider(edr.L1_CHAIN_TYPE, config, logger, subscription, decoder);

/** @param {{ id: unknown }} call */
async function answer(call) {
  const { data } = await provider.handleRequest(JSON.stringify(call));
  // The engine omits the fields that all responses have.
  return { jsonrpc: "2.0", id: call.id, ...(typeof data === "string" ? JSON.parse(data) : data) };
}

const server = createServer((request, response) => {
  text(request)
    .then(async (body) => {
      const calls = JSON.parse(body);
      const answers = Array.isArray(calls) ? await Promise.all(calls.map(answer)) : await answer(calls);
      response.setHeader("Content-Type", "application/json").end(JSON.stringify(answers));
    })
    .catch(() => response.writeHead(500).end());
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const address = server.address();
if (address !== null && typeof address === "object") process.stdout.write(`Listening on 127.0.0.1:${address.port}\n`);
