/** What each trust choice promises, and how a verification with it is attacked. */
import { ANY_KEY, endpoints, oneEndpoint, ownNode, pinnedBlock, type Trust, type VerifierOptions } from "keyroot";
import { auditors } from "keyroot/auditors";
import { verifyBundle } from "keyroot/bundle";
import { lightClient, makeBlockProof, verifyBlockProof } from "keyroot/light-client";
import { verifyOnce } from "../../../test/support/verifier/verifyOnce.ts";
import { Attack, Material, type Plan, type Power } from "./attack.ts";
import { auditorKeys, forgedRecord, HOSTS, Registry, user } from "./registries.ts";

/** A way to verify the user's key. Returns the key in base64. */
interface Choice {
  power: Power;
  verify: (attack: Attack, plan: Plan) => Promise<string>;
}

/** Both registries, and the ways to verify the user's key in the real one. */
export interface Battlefield extends AsyncDisposable {
  choices: Readonly<Record<string, Choice>>;
  /** Makes the attack of a plan. */
  attack: (choice: Choice, plan: Plan) => Attack;
}

/** The time of all verifications, in seconds after the newest block. */
const LATER = 30;
const [first = "", ...more] = HOSTS.rpc;

export async function startBattlefield(): Promise<Battlefield> {
  await using starting = new AsyncDisposableStack();
  let time = Date.now();
  const now = () => time;
  const real = await Registry.start(false, now);
  starting.defer(() => real.close());
  const forged = await Registry.start(true, now);
  starting.defer(() => forged.close());
  time = 1000 * (LATER + Math.max(...[real, forged].map(({ head }) => Number(head.timestamp))));

  const { chainId, contract, checkpoint } = real;
  if (contract !== forged.contract) throw new Error("Both contracts must have the same address.");
  const place = { chainId, contract, merkleUrl: HOSTS.files };
  const keyOf = ({ expectsForged }: Plan) => (expectsForged ? forgedRecord.pubKey : ANY_KEY);
  const online =
    (makeTrust: () => Trust, rpc: VerifierOptions["rpc"] = first) =>
    async (attack: Attack, plan: Plan): Promise<string> => {
      const options = { ...place, rpc, now, fetch: attack.fetch, trust: makeTrust(), expectedPublicKey: keyOf(plan) };
      return (await verifyOnce(user.userID, options)).record.pubKey;
    };
  const everything: Power = { mayForge: () => true };
  const files: Power = { mayForge: ({ host }) => host === "files" };

  // The light client's state after an honest verification. Most verifications continue from it.
  const stored = new Map<string, string>();
  const followed = (store: Map<string, string>) => lightClient({ urls: [HOSTS.beacon], checkpoint, store });
  const notBeacon: Power = { mayForge: ({ host }) => host !== "beacon" };

  const bundles = { real: await real.bundles(time), forged: await forged.bundles(time) };
  const offline =
    (name: "pinned" | "audited", trust: Trust) =>
    async (attack: Attack, plan: Plan): Promise<string> => {
      const { real, forged } = bundles;
      const bundle = plan.isForged ? attack.change(forged[name], real[name]) : attack.change(real[name], forged[name]);
      const query = { userID: user.userID, chainId, contract, trust, expectedPublicKey: keyOf(plan) };
      return (await verifyBundle(bundle, query)).record.pubKey;
    };
  const trusted = auditors({ keys: auditorKeys, threshold: 2, urls: HOSTS.statements });
  const signers = auditors({ keys: auditorKeys, threshold: 2 });

  const choices: Record<string, Choice> = {
    // The endpoint's own answers are what the app trusts. The file host is the attacker's.
    oneEndpoint: { power: files, verify: online(oneEndpoint) },
    endpoints: {
      power: {
        mayForge: ({ host }, index) => host === "files" || (host === "rpc" && index === 0),
        mayChange: (host, index) => host === "files" || index === 0,
      },
      verify: online(() => endpoints({ required: 2 }), [first, ...more]),
    },
    // The node's block is what the app trusts.
    ownNode: {
      power: { mayForge: ({ method }) => !method.startsWith("eth_getBlockBy") },
      verify: online(ownNode),
    },
    pinnedBlock: { power: everything, verify: online(() => pinnedBlock(real.head.hash)) },
    lightClient: {
      power: notBeacon,
      verify: (attack, plan) => {
        const fromCheckpoint = plan.steps.some(({ choice }) => choice % 16 === 0);
        return online(() => followed(new Map(fromCheckpoint ? [] : stored)))(attack, plan);
      },
    },
    auditors: { power: everything, verify: online(() => trusted) },
    "pinnedBlock, bundle": { power: everything, verify: offline("pinned", pinnedBlock(real.head.hash)) },
    "auditors, bundle": { power: everything, verify: offline("audited", signers) },
  };

  const material = { real: new Material(), all: new Material() };
  const registries = { real, forged };
  const attack: Battlefield["attack"] = ({ power }, plan) => new Attack(plan, power, registries, material);
  await collect(
    Object.values(choices),
    attack,
    material,
    online(() => followed(stored)),
  );

  // Make the proof of the real block, for a bundle. The proof of the attacker's chain has valid signatures, because the
  // test keys are public. Therefore no part of the attacker's proof is mixed into the real one.
  const honest = attack({ power: everything, verify: () => Promise.resolve("") }, NO_PLAN);
  const made = await withFetch(honest.fetch, () => makeBlockProof({ urls: [HOSTS.beacon], checkpoint, chainId }));
  const proof = Buffer.from(JSON.stringify(made.proof));
  choices["lightClient, bundle"] = {
    power: everything,
    verify: async (attack, plan) => {
      const changesProof = (plan.steps[0]?.choice ?? 0) % 2 === 0;
      const changed = changesProof ? attack.change(proof, proof) : proof;
      const block = changesProof ? await verifyBlockProof(changed, { chainId, checkpoint }) : made;
      return offline("pinned", pinnedBlock(block.blockHash))(attack, plan);
    },
  };
  const running = starting.move();
  return { choices, attack, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Collects the documents of honest and of forged verifications. */
async function collect(
  choices: readonly Choice[],
  attack: Battlefield["attack"],
  material: { real: Material; all: Material },
  follow: Choice["verify"],
): Promise<void> {
  for (const isForged of [false, true])
    for (const { verify } of [...choices, { verify: follow }]) {
      const plan = { isForged, expectsForged: false, steps: [] };
      const answering = attack({ power: { mayForge: () => isForged }, verify }, plan);
      const { fetch } = answering;
      Object.assign(answering, {
        fetch: async (...request: Parameters<typeof fetch>) => {
          const response = await fetch(...request);
          const bytes = new Uint8Array(await response.clone().arrayBuffer());
          material.all.add(bytes);
          if (!isForged) material.real.add(bytes);
          return response;
        },
      });
      const key = await verify(answering, plan).catch((error: unknown) => error);
      if (!isForged && key !== user.pubKey) throw new Error("An honest verification failed.", { cause: key });
    }
}

const NO_PLAN: Plan = { isForged: false, expectsForged: false, steps: [] };

/** `makeBlockProof` has no option for `fetch`. */
async function withFetch<T>(fetch: typeof globalThis.fetch, run: () => Promise<T>): Promise<T> {
  const before = globalThis.fetch;
  globalThis.fetch = fetch;
  try {
    return await run();
  } finally {
    globalThis.fetch = before;
  }
}
