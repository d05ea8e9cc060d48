import { isAddress } from "ethers/address";
import { ArgumentError, VerificationError } from "keyroot/errors";
import { fetchChainId } from "keyroot/ethereum";
import { describeValue } from "keyroot/input";
import { checkSourceUrl, DEFAULT_LIMITS, type Eip1193Provider, type RpcCall, rpcCaller } from "keyroot/transport";
import { isLocalChain } from "../publisher/chain/localChains.ts";
import { readStackFile, type StackFile } from "../stack/stackFile.ts";
import type { Host } from "./host.ts";

/** The options that name a chain, a registry and a file host. */
export interface TargetArgs {
  rpc?: string | undefined;
  contract?: string | undefined;
  merkleUrl?: string | undefined;
  chainId?: number | undefined;
  allowHttp?: boolean | undefined;
}

/** Where a command reads and writes: what its options name, and otherwise the local stack that is running. */
export class Target {
  readonly #args: TargetArgs;
  readonly #stack: StackFile | undefined;
  /** A JSON-RPC endpoint, or the connection to the network that `--network` names. */
  readonly rpc: string | Eip1193Provider;
  readonly call: RpcCall;

  private constructor(
    args: TargetArgs,
    stack: StackFile | undefined,
    rpc: string | Eip1193Provider,
    fetch?: typeof globalThis.fetch,
  ) {
    this.#args = args;
    this.#stack = stack;
    this.rpc = rpc;
    const { rpcBytes: maxBytes, timeoutMs } = DEFAULT_LIMITS;
    this.call = rpcCaller(rpc, { maxBytes, timeoutMs, allowHttp: this.allowHttp, fetch });
  }

  /**
   * @param fetch sends the JSON-RPC calls to an endpoint. Default: `globalThis.fetch`
   * @throws ArgumentError ARGUMENT_INVALID
   */
  static async resolve(args: TargetArgs, host: Host, fetch?: typeof globalThis.fetch): Promise<Target> {
    const provider = await host.connectNetwork();
    if (provider !== undefined) {
      if (args.rpc !== undefined) {
        throw new ArgumentError("ARGUMENT_INVALID", "--network and --rpc both name a chain. Use one of them.");
      }
      return new Target(args, undefined, provider);
    }
    const stack = await readStackFile(host.root);
    return new Target(args, stack, args.rpc ?? endpointOfEnvironment() ?? stack?.rpcUrl ?? missing("--rpc"), fetch);
  }

  get contract(): string {
    return checkAddress("--contract", this.#args.contract ?? this.#stack?.contract ?? missing("--contract"));
  }

  get merkleUrl(): string {
    const url = this.#args.merkleUrl ?? this.#stack?.merkleUrl ?? missing("--merkle-url");
    return checkSourceUrl("merkleUrl", url, this.allowHttp);
  }

  /** Whether plain http to other machines is allowed. */
  get allowHttp(): boolean {
    return this.#args.allowHttp === true || allowHttpOfEnvironment();
  }

  /** The folder of the local stack's files. */
  get merkleDir(): string {
    return this.#stack?.merkleDir ?? missing("--out");
  }

  /** The chain id that the endpoint must have, and that transactions are signed for: never the endpoint's own answer. */
  get chainId(): number {
    return this.#expectedChainId ?? missing("--chain-id");
  }

  /** Whether the chain is a development chain on this machine. The connection of `--network` does not show that. */
  get isLocal(): boolean {
    return typeof this.rpc === "string" && isLocalChain(this.rpc, this.chainId);
  }

  /**
   * Requests the endpoint's chain id.
   * @throws VerificationError CHAIN_ID_MISMATCH if it is not the one that `--chain-id` or the local stack names
   */
  async checkChainId(): Promise<number> {
    const actual = await fetchChainId(this.call);
    const expected = this.#expectedChainId ?? actual;
    if (actual === expected) return actual;
    const message = `The endpoint has chain id ${actual}, expected ${expected}.`;
    throw new VerificationError("root", "CHAIN_ID_MISMATCH", message, { expected, actual });
  }

  get #expectedChainId(): number | undefined {
    return this.#args.chainId ?? chainIdOfEnvironment() ?? this.#stack?.chainId;
  }
}

/** Endpoint URLs often contain secrets; the variable keeps them out of the process list. */
function endpointOfEnvironment(): string | undefined {
  const { KEYROOT_RPC_URL: url } = process.env;
  return url === "" ? undefined : url;
}

function allowHttpOfEnvironment(): boolean {
  const { KEYROOT_ALLOW_HTTP: allow = "" } = process.env;
  if (allow === "" || allow === "true") return allow === "true";
  const message = `KEYROOT_ALLOW_HTTP must be true or unset, not ${describeValue(allow)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

function chainIdOfEnvironment(): number | undefined {
  const { KEYROOT_CHAIN_ID: chainId = "" } = process.env;
  if (chainId === "") return undefined;
  if (/^[1-9]\d{0,14}$/.test(chainId)) return Number(chainId);
  const message = `KEYROOT_CHAIN_ID must be a whole number of 1 or more, not ${describeValue(chainId)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/** Returns the given address. @throws ArgumentError ARGUMENT_INVALID */
export function checkAddress(option: string, address: string): string {
  if (address.startsWith("0x") && isAddress(address)) return address;
  const message = `${option} must be 0x and 40 hex digits, in one case or with a valid checksum, not ${describeValue(address)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

function missing(option: string): never {
  const message = `No local stack is running here. Start one with 'npx hardhat keyroot stack', or set ${option}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
