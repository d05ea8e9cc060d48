/**
 * The verdicts of Lodestar's light client, as an oracle. It runs in a folder in which Lodestar is installed. The input
 * is pairs of a bootstrap and an update, in SSZ and base64. For each pair, it prints as JSON the slot of the finalized
 * header after both, or null if the bootstrap is rejected.
 */
import { readFileSync } from "node:fs";
import bls from "@chainsafe/bls";
import { createBeaconConfig } from "@lodestar/config";
import { networksChainConfig } from "@lodestar/config/networks";
import { LightclientSpec } from "@lodestar/light-client/spec";
import { ssz } from "@lodestar/types";

// Not among the package's exports.
const FILE = "./node_modules/@lodestar/light-client/lib/spec/validateLightClientBootstrap.js";
const { validateLightClientBootstrap } = await import(FILE);

const GENESIS_ROOT = Buffer.from("4b363db94e286120d76eb905340fdd4e54bfe9f06bf33ff6cf5ad27f511bfe95", "hex");
const OPTIONS = { allowForcedUpdates: false, updateHeadersOnForcedUpdate: false };
const config = createBeaconConfig(networksChainConfig.mainnet, GENESIS_ROOT);
const { checkpoint, fork, currentSlot, pairs } = JSON.parse(readFileSync(0, "utf8"));
const { LightClientBootstrap, LightClientUpdate } = ssz[fork];

// Lodestar reads the keys of both committees for each pair. Most pairs have the same keys, so this program reads each
// key only once.
const keys = new Map();
const readKey = bls.PublicKey.fromBytes.bind(bls.PublicKey);
bls.PublicKey.fromBytes = (bytes) => {
  const name = Buffer.from(bytes).toString("hex");
  const key = keys.get(name) ?? readKey(bytes);
  keys.set(name, key);
  return key;
};

function slotAfter([bootstrapText, updateText]) {
  let client;
  try {
    const bootstrap = LightClientBootstrap.deserialize(Buffer.from(bootstrapText, "base64"));
    validateLightClientBootstrap(config, Buffer.from(checkpoint.slice(2), "hex"), bootstrap);
    client = new LightclientSpec(config, OPTIONS, bootstrap);
  } catch {
    return null;
  }
  try {
    client.onUpdate(currentSlot, LightClientUpdate.deserialize(Buffer.from(updateText, "base64")));
  } catch {
    // The state does not change.
  }
  return client.store.finalizedHeader.beacon.slot;
}

process.stdout.write(JSON.stringify(pairs.map(slotAfter)));
