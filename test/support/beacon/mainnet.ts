import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BEACON_NETWORKS, type Bootstrap, FORKS, rootOf, type Update } from "keyroot/internal/lightClient";

const DATA = join(import.meta.dirname, "../../keyroot/trust/lightClient/data");

/** Recorded responses of mainnet's beacon chain. */
export interface MainnetSample {
  /** The period of the bootstrap. */
  period: number;
  fork: "deneb" | "electra";
  checkpoint: string;
  bootstrapBytes: Uint8Array;
  updatesBytes: Uint8Array;
  bootstrap: Bootstrap;
  updates: Update[];
}

/** Splits a response of `updates` into the bytes of its containers. */
export function splitUpdates(answer: Uint8Array): Uint8Array[] {
  const items: Uint8Array[] = [];
  for (let rest = Buffer.from(answer); rest.length > 0;) {
    const end = 8 + Number(rest.readBigUInt64LE());
    items.push(new Uint8Array(rest.subarray(12, end)));
    rest = rest.subarray(end);
  }
  return items;
}

function load(period: number, count: number, fork: MainnetSample["fork"]): MainnetSample {
  const read = (name: string) => new Uint8Array(readFileSync(join(DATA, name)));
  const [bootstrapBytes, updatesBytes] = [read(`bootstrap-${period}.ssz`), read(`updates-${period}-${count}.ssz`)];
  const { layouts } = FORKS[fork];
  const bootstrap = layouts.bootstrap.decode(bootstrapBytes);
  const checkpoint = `0x${Buffer.from(rootOf(bootstrap.header)).toString("hex")}`;
  const updates = splitUpdates(updatesBytes).map((bytes) => layouts.update.decode(bytes));
  return { period, fork, checkpoint, bootstrapBytes, updatesBytes, bootstrap, updates };
}

/** Six periods of Deneb, and one of Electra. */
export const MAINNET_SAMPLES: readonly MainnetSample[] = [load(1347, 6, "deneb"), load(1422, 1, "electra")];

export const { mainnet } = BEACON_NETWORKS;
