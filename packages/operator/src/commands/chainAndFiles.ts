import { resolve } from "node:path";
import { ArgumentError } from "keyroot/internal/errors";
import { checkSourceUrl, DEFAULT_LIMITS, type Eip1193Provider, type RpcCall } from "keyroot/internal/transport";
import { type FileSource, isLocalChain } from "../follow/index.ts";
import type { AuditTarget } from "../audit/openStateFile.ts";
import { Chain } from "../publisher/chain/chain.ts";
import type { RetryOptions } from "../http/retry.ts";
import { openEndpoint } from "../rpc/openEndpoint.ts";
import { checkAddress } from "./hexOptions.ts";
import { readStackAt, type StackFile } from "./stackFile.ts";
import type { Host } from "./host.ts";

/** The options for a chain, a registry, a file host and a folder of files. */
export interface ChainAndFilesArgs {
  rpc?: string | undefined;
  contract?: string | undefined;
  merkleUrl?: string | undefined;
  files?: string | undefined;
  chainId?: number | undefined;
  allowHttp?: boolean | undefined;
}

interface ConnectionOptions {
  /** Sends the JSON-RPC requests to an endpoint. Default: `globalThis.fetch`. */
  fetch?: typeof globalThis.fetch;
  /** The retries of reads. Default: 5 retries, starting after 500 ms. */
  retry?: RetryOptions;
}

/** The chain, registry and files of a command, from the command's options or from the running local stack. */
export class ChainAndFiles {
  readonly #args: ChainAndFilesArgs;
  readonly #stack: StackFile | undefined;
  /** The URL of a JSON-RPC endpoint, or the connection to the network in `--network`. */
  readonly rpc: string | Eip1193Provider;
  /** Sends a request. Repeats reads after temporary failures. */
  readonly call: RpcCall;
  /** The retries of reads. */
  readonly retry: RetryOptions | undefined;
  /** The endpoint's URL. Undefined for a simulated network in `--network`. */
  readonly #url: string | undefined;

  private constructor(
    args: ChainAndFilesArgs,
    stack: StackFile | undefined,
    { rpc, url }: { rpc: string | Eip1193Provider; url: string | undefined },
    { fetch, retry }: ConnectionOptions,
  ) {
    this.#args = args;
    this.#stack = stack;
    this.rpc = rpc;
    this.retry = retry;
    this.#url = url;
    this.call = openEndpoint(rpc, { allowHttp: this.allowHttp, fetch, retry });
  }

  /** @throws ArgumentError ARGUMENT_INVALID */
  static async resolve(args: ChainAndFilesArgs, host: Host, options: ConnectionOptions = {}): Promise<ChainAndFiles> {
    const provider = await host.connectNetwork();
    if (provider !== undefined) {
      if (args.rpc !== undefined) {
        throw new ArgumentError("ARGUMENT_INVALID", "--network and --rpc both select a chain. Use only one of them.");
      }
      const url = await host.networkUrl();
      const stack = url === undefined ? undefined : await readStackAt(host.root, url);
      return new ChainAndFiles(args, stack, { rpc: provider, url }, options);
    }
    const stack = await readStackAt(host.root, args.rpc);
    const rpc = args.rpc ?? stack?.rpcUrl ?? missing("--rpc");
    return new ChainAndFiles(args, stack, { rpc, url: rpc }, options);
  }

  /** The registry of the local stack, if the chain is the stack's. */
  get stackContract(): string | undefined {
    return this.#stack?.contract;
  }

  get contract(): string {
    return checkAddress("--contract", this.#args.contract ?? this.#stack?.contract ?? missing("--contract"));
  }

  get merkleUrl(): string {
    const url = this.#args.merkleUrl ?? this.#stack?.merkleUrl ?? missing("--merkle-url");
    return checkSourceUrl("merkleUrl", url, this.allowHttp);
  }

  /** True if unencrypted http to other machines is allowed. */
  get allowHttp(): boolean {
    return this.#args.allowHttp === true;
  }

  /** The folder or bucket in `--files`. Default: the local stack's folder. */
  get files(): string {
    return this.#args.files ?? this.#stack?.filesDir ?? missing("--files");
  }

  /** The expected chain id, for which transactions are also signed. This chain id never comes from the endpoint. */
  get chainId(): number {
    return this.#expectedChainId ?? missing("--chain-id");
  }

  /** True for a development chain on this machine. */
  get isLocal(): boolean {
    return this.#url !== undefined && isLocalChain(this.#url, this.chainId);
  }

  /**
   * Reads the endpoint's chain id, and compares it with the expected chain id, if there is one.
   * @throws VerificationError CHAIN_ID_MISMATCH if the chain id differs from `--chain-id` or from the local stack's
   * chain id
   */
  async verifyChainId(): Promise<number> {
    const chain = new Chain(this.call);
    const expected = this.#expectedChainId;
    if (expected === undefined) return chain.chainId();
    await chain.verifyChainId(expected);
    return expected;
  }

  get #expectedChainId(): number | undefined {
    return this.#args.chainId ?? this.#stack?.chainId;
  }
}

function missing(option: string): never {
  throw new ArgumentError("ARGUMENT_INVALID", `${option} is missing.`);
}

/**
 * Returns the source of the files for an audit or a watch: the folder in `--files` if the option is set, otherwise the
 * file host.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function filesOf(
  args: { files: string | undefined; merkleUrl: string | undefined },
  chainAndFiles: ChainAndFiles,
): FileSource {
  const limits = { maxBytes: DEFAULT_LIMITS.fileBytes, timeoutMs: DEFAULT_LIMITS.timeoutMs };
  // If variables set both sources, use the file host, because clients read their files from the file host.
  return args.files === undefined || args.merkleUrl !== undefined
    ? { merkleUrl: chainAndFiles.merkleUrl, allowHttp: chainAndFiles.allowHttp, ...limits }
    : { dir: resolve(args.files), ...limits };
}

/** Returns the contract and chain that identify a saved state. @throws VerificationError CHAIN_ID_MISMATCH; TransportError */
export async function placeOf(chainAndFiles: ChainAndFiles): Promise<AuditTarget> {
  const contract = chainAndFiles.contract.toLowerCase();
  const chainId = await chainAndFiles.verifyChainId();
  const genesisHash = await new Chain(chainAndFiles.call).genesisHash(chainId);
  return { chainId, genesisHash, contract };
}
