import { hasOwn } from "../../engine/language.ts";
import { checkInteger, checkNames, checkObject, checkText, invalidArgument } from "../../input/options.ts";
import { LOWERCASE_HASH } from "../../ethereum/rpcValues.ts";
import type { ForkName } from "./forks.ts";

/** The properties of a beacon chain. */
export interface BeaconNetwork {
  /** The chain id of the execution chain (EIP-155). The beacon chain contains the blocks of this chain. */
  chainId: number;
  /** The time of slot 0, in seconds since 1970. */
  genesisTime: number;
  /** The `genesis_validators_root` of the chain: 0x and 64 lowercase hex digits. */
  genesisValidatorsRoot: string;
  secondsPerSlot: number;
  slotsPerEpoch: number;
  /** The number of epochs for which a sync committee signs (`EPOCHS_PER_SYNC_COMMITTEE_PERIOD`). */
  epochsPerPeriod: number;
  /** The default of the `maxCheckpointAgeMs` option, in ms. */
  maxCheckpointAgeMs: number;
  /** Each scheduled fork's version (0x and 8 lowercase hex digits) and first epoch. */
  forks: Readonly<Partial<Record<ForkName, readonly [version: string, epoch: number]>>>;
}

/**
 * Ethereum's maximum age of a checkpoint: 14 days. The weak subjectivity period is longer, with 3,532 epochs or 15.7
 * days for a safety decay of 10 % (consensus-specs, `specs/electra/weak-subjectivity.md`).
 */
const ETHEREUM_AGE_MS = 14 * 86_400_000;
const ETHEREUM = { secondsPerSlot: 12, slotsPerEpoch: 32, epochsPerPeriod: 256, maxCheckpointAgeMs: ETHEREUM_AGE_MS };

/**
 * The simulated network of `@keyroot/operator/testing`. The library accepts it only for chain 31337, because its
 * signing keys are public. Its checkpoints become too old only after 100 years, so tests and examples can contain a
 * fixed one.
 */
export const TEST_NETWORK: BeaconNetwork = {
  chainId: 31_337,
  genesisTime: 1_700_000_000,
  genesisValidatorsRoot: "0x6b6579726f6f743a20746573746b6579732061726520707562c3bcc3bcc3bc00",
  secondsPerSlot: 1,
  slotsPerEpoch: 32,
  epochsPerPeriod: 2 ** 20,
  maxCheckpointAgeMs: 36_500 * 86_400_000,
  forks: { deneb: ["0x04006b72", 0], electra: ["0x05006b72", 0], fulu: ["0x06006b72", 0] },
};

/** The networks that the library includes. */
export const BEACON_NETWORKS = {
  // Sources: github.com/ethereum/consensus-specs, configs/mainnet.yaml; github.com/eth-clients/mainnet, metadata
  mainnet: {
    ...ETHEREUM,
    chainId: 1,
    genesisTime: 1_606_824_023,
    genesisValidatorsRoot: "0x4b363db94e286120d76eb905340fdd4e54bfe9f06bf33ff6cf5ad27f511bfe95",
    forks: {
      altair: ["0x01000000", 74_240],
      bellatrix: ["0x02000000", 144_896],
      capella: ["0x03000000", 194_048],
      deneb: ["0x04000000", 269_568],
      electra: ["0x05000000", 364_032],
      fulu: ["0x06000000", 411_392],
    },
  },
  // Source: github.com/eth-clients/sepolia, metadata/config.yaml and README.md
  sepolia: {
    ...ETHEREUM,
    chainId: 11_155_111,
    genesisTime: 1_655_733_600,
    genesisValidatorsRoot: "0xd8ea171f3c94aea21ebc42a1ed61052acf3f9209c00e4efbaaddac09ed9b8078",
    forks: {
      altair: ["0x90000070", 50],
      bellatrix: ["0x90000071", 100],
      capella: ["0x90000072", 56_832],
      deneb: ["0x90000073", 132_608],
      electra: ["0x90000074", 222_464],
      fulu: ["0x90000075", 272_640],
    },
  },
  // Source: github.com/eth-clients/hoodi, metadata/config.yaml and README.md
  hoodi: {
    ...ETHEREUM,
    chainId: 560_048,
    genesisTime: 1_742_213_400,
    genesisValidatorsRoot: "0x212f13fc4df078b6cb7db228f1c8307566dcecf900867401a92023d7ba99cb5f",
    forks: {
      altair: ["0x20000910", 0],
      bellatrix: ["0x30000910", 0],
      capella: ["0x40000910", 0],
      deneb: ["0x50000910", 0],
      electra: ["0x60000910", 2048],
      fulu: ["0x70000910", 50_688],
    },
  },
  // Source: github.com/gnosischain/configs, mainnet/config.yaml
  gnosis: {
    chainId: 100,
    genesisTime: 1_638_993_340,
    genesisValidatorsRoot: "0xf5dcb5564e829aab27264b9becd5dfaa017085611224cb3036f573368dbb9d47",
    secondsPerSlot: 5,
    slotsPerEpoch: 16,
    epochsPerPeriod: 512,
    // Ethereum's formula gives 256 + 204 epochs of 80 s with a CHURN_LIMIT_QUOTIENT of 4096.
    maxCheckpointAgeMs: 460 * 80_000,
    forks: {
      altair: ["0x01000064", 512],
      bellatrix: ["0x02000064", 385_536],
      capella: ["0x03000064", 648_704],
      deneb: ["0x04000064", 889_856],
      electra: ["0x05000064", 1_337_856],
      fulu: ["0x06000064", 1_714_688],
    },
  },
} as const satisfies Record<string, BeaconNetwork>;

/** The name of a network that the library includes. */
export type BeaconNetworkName = keyof typeof BEACON_NETWORKS;

/** Returns the network that the option specifies. Default: the included network with this chain id. */
export function parseNetwork(network: BeaconNetworkName | BeaconNetwork | undefined, chainId: number): BeaconNetwork {
  const known: Readonly<Record<string, BeaconNetwork>> = BEACON_NETWORKS;
  let found: BeaconNetwork | undefined;
  if (typeof network === "object") found = checkNetwork(network);
  else if (network !== undefined) found = hasOwn(known, network) ? known[network] : undefined;
  else {
    const networks = [...Object.keys(known).map((name) => known[name]), TEST_NETWORK];
    [found] = networks.filter((each) => each?.chainId === chainId);
  }
  if (found === undefined) {
    throw invalidArgument(
      nameOf(""),
      `${Object.keys(known).join(", ")}, or an object with the network's constants`,
      network,
    );
  }
  if (found.chainId !== chainId) throw invalidArgument(nameOf(""), `a network of the chain ${chainId}`, found.chainId);
  return found;
}

/** Names the `network` option, or a field of it such as `.forks`, in error messages. */
function nameOf(field: string): string {
  return `The network${field} option`;
}

function checkNetwork(network: BeaconNetwork): BeaconNetwork {
  const { forks, genesisValidatorsRoot, ...numbers } = checkObject(nameOf(""), network);
  checkNames("The options in network", network, Object.keys(TEST_NETWORK));
  checkText(nameOf(".genesisValidatorsRoot"), genesisValidatorsRoot, "0x and 64 lowercase hex digits", LOWERCASE_HASH);
  for (const name of Object.keys(TEST_NETWORK) as (keyof BeaconNetwork)[])
    if (name !== "forks" && name !== "genesisValidatorsRoot") checkInteger(nameOf(`.${name}`), numbers[name], 1);
  for (const [name, fork] of Object.entries(checkObject(nameOf(".forks"), forks))) {
    if (!Array.isArray(fork)) throw invalidArgument(nameOf(`.forks.${name}`), "a list of version and epoch", fork);
    const [version, epoch] = fork as unknown[];
    checkText(nameOf(`.forks.${name}[0]`), version, "0x and 8 lowercase hex digits", /^0x[0-9a-f]{8}$/);
    checkInteger(nameOf(`.forks.${name}[1]`), epoch, 0);
  }
  if (genesisValidatorsRoot === TEST_NETWORK.genesisValidatorsRoot && network.chainId !== TEST_NETWORK.chainId)
    throw invalidArgument(nameOf(".chainId"), `${TEST_NETWORK.chainId} for the test network`, network.chainId);
  return network;
}
