import { expect } from "chai";
import { keccak256, Wallet } from "ethers";
import { join } from "node:path";
import {
  FolderJournal,
  FolderStore,
  publish,
  type PublishEvent,
  type PublishOptions,
  type PublishResult,
  RemoteSigner,
  signingSender,
} from "@keyroot/operator/publisher";
import type { KeyRecord } from "keyroot/internal/identity";
import type { RpcCall } from "keyroot/internal/transport";
import { findUnfinishedPlan } from "../../../../packages/operator/src/commands/unfinishedPlan.ts";
import {
  serializeSigned,
  serializeUnsigned,
} from "../../../../packages/operator/src/publisher/chain/serializeTransaction.ts";
import {
  MAX_TRANSACTION_BYTES,
  maxUsersBySize,
} from "../../../../packages/operator/src/publisher/chain/transactionSize.ts";
import { usersPerTransaction } from "../../../../packages/operator/src/publisher/plan/usersPerTransaction.ts";
import { toTransaction } from "../../../../packages/operator/src/publisher/signers/signer.ts";
import { addRoots } from "../../../../packages/operator/src/publisher/transactions/addRoots.ts";
import { DEFAULT_SEND_OPTIONS } from "../../../../packages/operator/src/publisher/transactions/sendOptions.ts";
import { hasAnvil, startAnvil } from "../../../support/anvil/anvil.ts";
import { type FreshRegistry, freshRegistry } from "../../../support/chain/freshRegistry.ts";
import { callerOf, LOCAL, OWNER_KEY } from "../../../support/chain/local.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";
import { sampleRecords, sampleUserID, sha256 } from "../../../support/samples.ts";
import { changeResult, type RpcProxy, type RpcRule, startRpcProxy } from "../../../support/servers/rpcProxy.ts";
import { failure, never, temporaryFolder } from "../../../support/support.ts";

/** The number of users for whom an access list saves more gas than the margin of a gas limit. */
const MANY = 600;

/** What a row needs: the chain, a proxy in front of it, and runs of the publisher with the same plan. */
interface World {
  fresh: FreshRegistry;
  proxy: RpcProxy;
  /** The events of all runs. */
  events: PublishEvent[];
  run: (records: readonly KeyRecord[], options?: Partial<PublishOptions>) => Promise<PublishResult>;
  /** The state of the plan, as `keyroot status` shows it. */
  status: () => ReturnType<typeof findUnfinishedPlan>;
  /** Number of the owner's transactions. */
  nonces: () => Promise<number>;
}

const rejectSending: RpcRule = ({ method }) =>
  method.startsWith("eth_send") ? { error: { code: -32000, message: "sender not on the allow list" } } : undefined;
/** Multiplies estimates, as another fork's rules would. */
const estimates = (factor: number) =>
  changeResult("eth_estimateGas", (gas) => `0x${Math.floor(Number(gas) * factor).toString(16)}`);
/** Both rules: the first that decides counts. */
const both =
  (...rules: RpcRule[]): RpcRule =>
  async (request, forward) => {
    for (const rule of rules) {
      const outcome = await rule(request, forward);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  };
const hasAccessList = (params: readonly unknown[]) => (params[0] as { accessList?: unknown }).accessList !== undefined;
/** The node estimates no call with an access list, so the publisher uses none. */
const withoutAccessLists: RpcRule = ({ method, params }) =>
  method === "eth_estimateGas" && hasAccessList(params)
    ? { error: { code: -32000, message: "no access lists" } }
    : undefined;
const gasLimitOf1M: RpcRule = async (request, forward) => {
  if (request.method !== "eth_estimateGas") return undefined;
  const answer = await forward(request);
  return Number(answer["result"]) > 1_000_000
    ? { error: { code: -32000, message: "gas required exceeds allowance (1000000)" } }
    : { answer };
};

const ROWS: [situation: string, right: string, check: (world: World) => Promise<void>][] = [
  [
    "a recorded call with an access list, in a run without access lists",
    "is sent with its own gas limit, and nothing is reverted",
    async ({ proxy, run, events, nonces }) => {
      const records = sampleRecords(MANY);
      const before = await nonces();
      proxy.rule = rejectSending;
      await failure(run(records, { usersPerFile: MANY }));
      proxy.rule = withoutAccessLists;
      const { published } = await run(records, { usersPerFile: MANY });
      expect(published.map(({ users }) => users)).to.deep.equal([MANY]);
      expect([(await nonces()) - before, namesOf(events).includes("reverted")]).to.deep.equal([1, false]);
    },
  ],
  [
    "a recorded call whose gas has doubled in a fork between two runs",
    "is sent with a new gas limit",
    async ({ proxy, run, events, nonces }) => {
      const before = await nonces();
      proxy.rule = both(rejectSending, estimates(0.5));
      await failure(run(sampleRecords(9)));
      proxy.rule = undefined;
      await run(sampleRecords(9));
      expect([(await nonces()) - before, namesOf(events).includes("reverted")]).to.deep.equal([1, false]);
    },
  ],
  [
    "a plan whose roots are lost in a reorganization after all were added",
    "may cost what its users cost, as in the first round",
    async ({ fresh, proxy, run }) => {
      const limits = { maxFeePerGas: 2n * 10n ** 9n };
      // Each user costs more gas than the least allowance, as after the fork Amsterdam.
      proxy.rule = estimates(6);
      const snapshot = await fresh.call("evm_snapshot", []);
      const store = new FolderStore(fresh.filesDir);
      let fetched = 0;
      const interrupted: PublishOptions["fetchFile"] = (root) =>
        ++fetched < 2 ? store.get(root) : Promise.reject(new Error("stopped"));
      expect(await failure(run(sampleRecords(9), { limits, fetchFile: interrupted }))).to.have.property(
        "message",
        "stopped",
      );
      const reorganizing: PublishOptions["fetchFile"] = async (root) => {
        if (++fetched === 3) await fresh.call("evm_revert", [snapshot]);
        return store.get(root);
      };
      const { published } = await run(sampleRecords(9), { limits, fetchFile: reorganizing });
      expect(published.map(({ users }) => users)).to.deep.equal([9]);
    },
  ],
  [
    "a signer that omits access lists, like Web3Signer",
    "gets the transaction again without the list, with its own gas limit",
    async ({ fresh, run, events }) => {
      const wallet = new Wallet(OWNER_KEY);
      let lists = 0;
      const signer = new RemoteSigner(async (_, [request]) => {
        const { accessList, gas, ...rest } = request as Record<string, string>;
        if (accessList !== undefined) lists++;
        return wallet.signTransaction({ ...rest, type: 2, gasLimit: gas ?? never(), nonce: Number(rest["nonce"]) });
      }, fresh.owner);
      const { contract, owner, chainId, call } = fresh;
      const { published } = await run(sampleRecords(MANY), {
        usersPerFile: MANY,
        send: signingSender(signer, { chainId, contract, owner }, call),
      });
      expect(published.map(({ users }) => users)).to.deep.equal([MANY]);
      expect([lists, namesOf(events).includes("reverted")]).to.deep.equal([1, false]);
    },
  ],
  [
    "a transaction that is reverted, because the node's estimate was too low",
    "uses its nonce, and its batch gets another one in the same run",
    async ({ proxy, run, events, nonces }) => {
      const before = await nonces();
      proxy.rule = async (request, forward) =>
        proxy.count("eth_sendTransaction") === 0 ? estimates(0.5)(request, forward) : undefined;
      const { published } = await run(sampleRecords(9));
      expect(published.map(({ users }) => users)).to.deep.equal([9]);
      expect([(await nonces()) - before, namesOf(events).filter((name) => name === "reverted").length]).to.deep.equal([
        2, 1,
      ]);
    },
  ],
  [
    "a plan whose transactions were reverted in an earlier run",
    "is finished by the next run, as status says",
    async ({ proxy, run, status }) => {
      proxy.rule = estimates(0.5);
      const error = await failure(run(sampleRecords(9)));
      expect(error).to.have.property("code", "TRANSACTION_REVERTED");
      expect(await status()).to.deep.include({ roots: 1, added: 0, users: 9, isRunning: false });
      proxy.rule = undefined;
      const { published } = await run(sampleRecords(9));
      expect(published.map(({ users }) => users)).to.deep.equal([9]);
      expect(await status()).to.equal(undefined);
    },
  ],
  [
    "a plan whose batches no longer fit into a transaction",
    "is divided, and the first part takes over the recorded nonce",
    async ({ proxy, run, events, nonces }) => {
      const records = sampleRecords(120);
      const before = await nonces();
      proxy.rule = rejectSending;
      await failure(run(records, { usersPerFile: 80 }));
      proxy.rule = gasLimitOf1M;
      const { published, superseded } = await run(records, { usersPerFile: 80 });
      expect(published.map(({ users }) => users)).to.deep.equal([39, 39, 2, 39, 1]);
      expect(superseded).to.be.empty;
      expect(events).to.deep.include({ event: "replanned", batches: 5, users: 120, usersPerTransaction: 80 });
      expect((await nonces()) - before).to.equal(5);
    },
  ],
  [
    "a record with another key than the user's published key",
    "is reported as different, and all other records are published",
    async ({ run, events }) => {
      const [one = never(), two = never(), three = never()] = sampleRecords(3);
      const [first] = (await run([one, two])).published;
      const other = { ...three, userID: one.userID };
      const { published, differing } = await run([other, two, three]);
      expect(published.map(({ userIDs }) => [...userIDs])).to.deep.equal([[three.userID]]);
      const { root } = first ?? never();
      const difference = { userID: one.userID, root, publishedKeyID: one.keyID, keyID: other.keyID, line: 1 };
      expect(differing).to.deep.equal([difference]);
      expect(events).to.deep.include({ event: "keyDiffers", users: [difference] });
    },
  ],
  [
    "a record with another key than in a plan whose roots are already added",
    "is reported as different, and all other records are published",
    async ({ fresh, run }) => {
      const [one = never(), two = never(), three = never()] = sampleRecords(3);
      const store = new FolderStore(fresh.filesDir);
      let fetched = 0;
      const interrupted: PublishOptions["fetchFile"] = (root) =>
        ++fetched < 2 ? store.get(root) : Promise.reject(new Error("stopped"));
      await failure(run([one, two], { fetchFile: interrupted }));
      const { published, differing } = await run([{ ...three, userID: one.userID }, two, three]);
      expect(differing.map(({ userID }) => userID)).to.deep.equal([one.userID]);
      expect(published.map(({ users }) => users)).to.deep.equal([2, 1]);
    },
  ],
];

// Hardhat's chain answers a transaction that is reverted with an error, unlike other nodes.
(hasAnvil ? describe : describe.skip)("ordinary nodes: publishing", () => {
  describe("with a plan", () => {
    const fresh = freshRegistry(startAnvil);
    const folder = temporaryFolder();
    for (const [situation, right, check] of ROWS) {
      it(`${situation}, ${right}`, async () => {
        const proxy = await startRpcProxy(fresh.rpcUrl);
        const plan = join(folder.path, sha256(situation));
        const events: PublishEvent[] = [];
        const run: World["run"] = async (records, options = {}) => {
          using journal = await FolderJournal.open(plan);
          return await publish(records, {
            ...LOCAL,
            registry: await fresh.connect(callerOf(proxy.url)),
            store: new FolderStore(fresh.filesDir),
            journal,
            onEvent: (event) => events.push(event),
            sending: { timeoutMs: ENDLESS_MS },
            ...options,
          });
        };
        const status = async () => findUnfinishedPlan(await fresh.connect(), folder.path, plan);
        const nonces = async () => Number(await fresh.call("eth_getTransactionCount", [fresh.owner, "latest"]));
        try {
          await check({ fresh, proxy, events, run, status, nonces });
        } finally {
          await proxy.close();
        }
      });
    }
  });

  describe("on a chain without a low limit on gas", () => {
    const fresh = freshRegistry(() => startAnvil("--gas-limit", "1000000000", "--hardfork", "cancun"));
    const batchOf = (users: number, seed: number) => ({
      root: sha256(`${users} ${seed}`),
      userIDs: Array.from({ length: users }, (_, i) => sampleUserID(i, seed)),
    });
    const oversized: RpcRule = ({ method, params }) =>
      method === "eth_sendRawTransaction" && (String(params[0]).length - 2) / 2 > MAX_TRANSACTION_BYTES
        ? { error: { code: -32000, message: "oversized data: limit 131072" } }
        : undefined;

    it("makes batches that fit into the nodes' limit of 128 KiB, and leaves out an access list that does not", async () => {
      const proxy = await startRpcProxy(fresh.rpcUrl, oversized);
      try {
        const via: RpcCall = callerOf(proxy.url);
        const registry = await fresh.connect(via);
        const users = await usersPerTransaction(registry, 10_000);
        expect(users).to.equal(maxUsersBySize(false)).and.be.greaterThan(6_500);
        const batches = [batchOf(users, 1), batchOf(maxUsersBySize(true), 2)];
        await addRoots(batches, {
          registry,
          send: async (request) => {
            const transaction = toTransaction(request, fresh.chainId);
            transaction.signature = new Wallet(OWNER_KEY).signingKey.sign(keccak256(serializeUnsigned(transaction)));
            return (await via("eth_sendRawTransaction", [serializeSigned(transaction)])) as string;
          },
          journal: { attempts: () => [], recordAttempt: () => Promise.resolve() },
          options: { ...DEFAULT_SEND_OPTIONS, accessList: true },
        });
        for (const { root, userIDs } of batches)
          expect(await registry.getMerkleTreeRoots(userIDs.slice(-1))).to.deep.equal([root]);
      } finally {
        await proxy.close();
      }
    });
  });

  describe("serializing access lists", () => {
    it("gives the bytes that ethers gives", () => {
      const wallet = new Wallet(OWNER_KEY);
      const storageKeys = Array.from({ length: 40 }, (_, i) => `0x${sha256(String(i))}`);
      const address = wallet.address;
      for (const fees of [{ gasPrice: "0x7" }, { maxFeePerGas: "0x3b9aca00", maxPriorityFeePerGas: "0x0" }]) {
        for (const to of [address, undefined]) {
          const rest = { from: address, to, data: "0x00ff", nonce: "0x80", gas: "0x5208", ...fees };
          const transaction = toTransaction({ ...rest, accessList: [{ address, storageKeys }] }, 31337);
          expect(serializeUnsigned(transaction)).to.equal(transaction.unsignedSerialized);
          transaction.signature = wallet.signingKey.sign(transaction.unsignedHash);
          expect(serializeSigned(transaction)).to.equal(transaction.serialized);
        }
      }
    });
  });
});

function namesOf(events: readonly PublishEvent[]): string[] {
  return events.map(({ event }) => event);
}
