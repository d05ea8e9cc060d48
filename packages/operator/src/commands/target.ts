import { isAddress } from "ethers";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { describeValue } from "keyroot/input";
import { ArgumentError, VerificationError } from "keyroot/errors";
import { fetchChainId } from "keyroot/ethereum";
import { readStackFile, type StackNote } from "../stack/stackFile.ts";
import { DEFAULT_LIMITS } from "keyroot/transport";
import { checkUrl, type Eip1193Provider, type RpcCall, rpcCaller } from "keyroot/transport";

/** The options by which a command is told where to look. */
export interface TargetArgs {
  rpc: string | undefined;
  contract: string | undefined;
  merkleUrl: string | undefined;
  /** 0 where none was given. */
  chainId: number;
}

/** Where a command looks: what its options say, and for the rest the local stack that is running. */
export class Target {
  readonly #args: Partial<TargetArgs>;
  readonly #stack: StackNote | undefined;
  /** A JSON-RPC endpoint, or the connection of the network that was named by `--network`. */
  readonly rpc: string | Eip1193Provider;
  readonly call: RpcCall;

  private constructor(args: Partial<TargetArgs>, stack: StackNote | undefined, rpc: string | Eip1193Provider) {
    this.#args = args;
    this.#stack = stack;
    this.rpc = rpc;
    this.call = rpcCaller(rpc, { maxBytes: DEFAULT_LIMITS.rpcBytes, timeoutMs: DEFAULT_LIMITS.timeoutMs });
  }

  /** @throws ArgumentError ARGUMENT_INVALID */
  static async resolve(args: Partial<TargetArgs>, hre: HardhatRuntimeEnvironment): Promise<Target> {
    // Declared as always there, it is undefined where no --network was given.
    const network = hre.globalOptions.network as string | undefined;
    if (network !== undefined) {
      if (args.rpc !== undefined) {
        throw new ArgumentError("ARGUMENT_INVALID", "--network and --rpc both name a chain: give one of them.");
      }
      return new Target(args, undefined, (await hre.network.create()).provider);
    }
    const stack = await readStackFile(hre.config.paths.root);
    return new Target(args, stack, args.rpc ?? stack?.rpcUrl ?? missing("--rpc"));
  }

  get contract(): string {
    return checkAddress("--contract", this.#args.contract ?? this.#stack?.contract ?? missing("--contract"));
  }

  get merkleUrl(): string {
    return checkUrl("merkleUrl", this.#args.merkleUrl ?? this.#stack?.merkleUrl ?? missing("--merkle-url"));
  }

  /** The folder of the local stack's files. */
  get merkleDir(): string {
    return this.#stack?.merkleDir ?? missing("--out");
  }

  /** The chain that must answer. */
  get chainId(): number {
    return this.#knownChainId ?? missing("--chain-id");
  }

  /**
   * Asks which chain answers.
   * @throws VerificationError CHAIN_ID_MISMATCH where it is not the one that was named, or the local stack's
   */
  async checkChainId(): Promise<number> {
    const actual = await fetchChainId(this.call);
    const expected = this.#knownChainId ?? actual;
    if (actual === expected) return actual;
    const message = `The endpoint speaks for the chain ${actual}, expected was the chain ${expected}.`;
    throw new VerificationError("root", "CHAIN_ID_MISMATCH", message, { expected, actual });
  }

  get #knownChainId(): number | undefined {
    return this.#args.chainId === 0 ? this.#stack?.chainId : this.#args.chainId;
  }
}

/** Returns the address that it was given. @throws ArgumentError ARGUMENT_INVALID */
export function checkAddress(option: string, address: string): string {
  if (address.startsWith("0x") && isAddress(address)) return address;
  const message = `${option} must be 0x and 40 hex digits, in one case or with a right checksum: ${describeValue(address)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

function missing(option: string): never {
  const message = `No local stack is running: start one with 'npm start', or name another place with ${option}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
