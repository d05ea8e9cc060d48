/** The measured work of a light client, for Node and browsers. */
import {
  applyUpdate,
  BEACON_NETWORKS,
  type BeaconNetwork,
  FORKS,
  type Layouts,
  type LightClientState,
  rootOf,
  startAt,
} from "keyroot/internal/lightClient";
import { bls12_381 } from "@noble/curves/bls12-381.js";

const { mainnet } = BEACON_NETWORKS;
const { layouts } = FORKS.deneb;
/** A slot after every slot in the data. */
const LATER = 2 ** 40;

/** A bootstrap, and the updates since its period, in SSZ. */
export interface ChainData {
  bootstrap: Uint8Array;
  updates: readonly Uint8Array[];
}

/** Returns the total size of a bootstrap and the updates, in bytes. */
export function bytesOf({ bootstrap, updates }: ChainData): number {
  return updates.reduce((sum, { length }) => sum + length, bootstrap.length);
}

/** Follows a chain from the bootstrap through all updates. */
export function followAll(
  { bootstrap, updates }: ChainData,
  network: BeaconNetwork = mainnet,
  types: Layouts = layouts,
): LightClientState {
  const start = types.bootstrap.decode(bootstrap);
  const root = Array.from(rootOf(start.header), (byte) => byte.toString(16).padStart(2, "0")).join("");
  let state: LightClientState = startAt(network, `0x${root}`, start);
  for (const bytes of updates) {
    const next = applyUpdate(network, state, types.update.decode(bytes), LATER);
    if (next === undefined) throw new Error("An update contains nothing new.");
    state = next;
  }
  return state;
}

/** Returns a function that verifies the last update of mainnet's data as a finality update. */
export function finalityWork({ bootstrap, updates }: ChainData): { finality: Uint8Array; work: () => void } {
  const before = followAll({ bootstrap, updates: updates.slice(0, -1) });
  const [last = new Uint8Array()] = updates.slice(-1);
  const finality = layouts.finality_update.encode(layouts.update.decode(last));
  const work = () => {
    const update = layouts.finality_update.decode(finality);
    if (applyUpdate(mainnet, before, update, LATER) === undefined) throw new Error("The update contains nothing new.");
  };
  return { finality, work };
}

/**
 * Returns a function that runs one BLS verification: it decodes a key and a signature, and hashes a message. Every
 * light client must do at least this work.
 */
export function blsWork(): () => void {
  const bls = bls12_381.longSignatures;
  const { secretKey, publicKey } = bls.keygen();
  const signature = bls.sign(bls.hash(new Uint8Array(32)), secretKey).toBytes();
  const keyBytes = publicKey.toBytes();
  return () => {
    const key = bls12_381.G1.Point.fromBytes(keyBytes);
    if (!bls.verify(bls.Signature.fromBytes(signature), bls.hash(new Uint8Array(32)), key))
      throw new Error("The signature is rejected.");
  };
}

/** Runs `work` several times. Returns each run's time in ms. */
export function timesOf(runs: number, work: () => unknown): number[] {
  return Array.from({ length: runs }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
}
