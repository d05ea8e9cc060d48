/**
 * Follows mainnet's data with Lodestar's light client, and prints the times as JSON. Run it in a folder in which
 * Lodestar is installed:
 *
 *     node lodestar.mjs RUNS < data.json
 */
import { readFileSync } from "node:fs";
import bls from "@chainsafe/bls";
import { createBeaconConfig } from "@lodestar/config";
import { networksChainConfig } from "@lodestar/config/networks";
import { LightclientSpec } from "@lodestar/light-client/spec";
import { ssz } from "@lodestar/types";

const GENESIS_ROOT = Buffer.from("4b363db94e286120d76eb905340fdd4e54bfe9f06bf33ff6cf5ad27f511bfe95", "hex");
const OPTIONS = { allowForcedUpdates: false, updateHeadersOnForcedUpdate: false };
const LATER = 2 ** 33;

const runs = Number(process.argv[2]);
const { bootstrap, updates } = JSON.parse(readFileSync(0, "utf8"));
const config = createBeaconConfig(networksChainConfig.mainnet, GENESIS_ROOT);
const { LightClientBootstrap, LightClientUpdate } = ssz.deneb;
const decoded = {
  bootstrap: Buffer.from(bootstrap, "base64"),
  updates: updates.map((text) => Buffer.from(text, "base64")),
};

function follow(count) {
  const client = new LightclientSpec(config, OPTIONS, LightClientBootstrap.deserialize(decoded.bootstrap));
  for (const bytes of decoded.updates.slice(0, count)) client.onUpdate(LATER, LightClientUpdate.deserialize(bytes));
  return client;
}

const timeOf = (work) => {
  const start = performance.now();
  work();
  return performance.now() - start;
};
const before = follow(decoded.updates.length - 1);
const last = decoded.updates.at(-1);
const one = Array.from({ length: runs }, () =>
  timeOf(() => before.onUpdate(LATER, LightClientUpdate.deserialize(last))),
);
let slot;
const all = Array.from({ length: runs }, () =>
  timeOf(() => (slot = follow(decoded.updates.length).store.finalizedHeader.beacon.slot)),
);
process.stdout.write(JSON.stringify({ all, one, slot, implementation: bls.implementation }));
