import { resolve } from "node:path";
import { ArgumentError, argumentInvalid } from "../errors.ts";
import { Quorum } from "keyroot/internal/auditors";
import type { KeyTypeName } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { checkSourceUrl, DEFAULT_LIMITS, type Eip1193Provider, type RpcCall } from "keyroot/internal/transport";
import { type FileSource, isLocalChain } from "../follow/index.ts";
import type { AuditTarget } from "../audit/openStateFile.ts";
import { Chain } from "../publisher/chain/chain.ts";
import { deploymentsOf, deploymentsPath } from "../publisher/deploymentRecords.ts";
import type { RetryOptions } from "../http/retry.ts";
import { type EndpointOptions, openEndpoint } from "../rpc/openEndpoint.ts";
import { checkAddress } from "./hexOptions.ts";
import { findStack, type StackFile } from "./stackFile.ts";
import type { Host } from "./host.ts";

/** The options for a chain, a registry, a file host and a folder of files. */
export interface ChainAndFilesArgs {
  /** The URL of the endpoint. With `--trust endpoints:N`, all URLs: the commands call them with `openTrustedChain`. */
  rpc?: string | readonly string[] | undefined;
  contract?: string | undefined;
  merkleUrl?: string | undefined;
  files?: string | undefined;
  chainId?: number | undefined;
  allowHttp?: boolean | undefined;
  /** The type of the registry's keys. `resolve` checks it with `checkKeyType`. */
  keyType?: KeyTypeName | undefined;
}

type ConnectionOptions = Pick<EndpointOptions, "fetch" | "retry">;

/**
 * The chain, registry and files of a command, which come from its options or from the running local stack. Disposal
 * ends the requests whose answers the command no longer needs, so that they do not keep the process running.
 */
export class ChainAndFiles implements Disposable {
  readonly #args: ChainAndFilesArgs;
  readonly #stack: StackFile | undefined;
  readonly #root: string;
  readonly #ended = new AbortController();
  /** The URL of a JSON-RPC endpoint, or the connection to the network in `--network`. */
  readonly rpc: string | Eip1193Provider;
  /** Sends a request. Repeats reads after temporary failures. */
  readonly call: RpcCall;
  /** The retries of reads. */
  readonly retry: RetryOptions | undefined;
  /** The URLs of further endpoints. */
  readonly #others: readonly string[];
  /** The endpoint's URL. Undefined for a simulated network in `--network`. */
  readonly #url: string | undefined;

  private constructor(
    args: ChainAndFilesArgs,
    stack: StackFile | undefined,
    root: string,
    { rpc, url, others }: { rpc: string | Eip1193Provider; url: string | undefined; others: readonly string[] },
    { fetch, retry }: ConnectionOptions,
  ) {
    this.#args = args;
    this.#stack = stack;
    this.#root = root;
    this.rpc = rpc;
    this.retry = retry;
    this.#url = url;
    this.#others = others;
    this.call = openEndpoint(rpc, { allowHttp: this.allowHttp, fetch, retry, signal: this.signal });
  }

  /** Aborts at the end of the command. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }

  /** @throws ArgumentError ARGUMENT_INVALID, and as `checkKeyType` */
  static async resolve(args: ChainAndFilesArgs, host: Host, options: ConnectionOptions = {}): Promise<ChainAndFiles> {
    const provider = await host.connectNetwork();
    const [first, ...others] = typeof args.rpc === "string" ? [args.rpc] : (args.rpc ?? []);
    if (provider !== undefined && first !== undefined)
      throw argumentInvalid("--network and --rpc both select a chain. Use only one of them.");
    const { endpoint, stack } = await findStack(host, first);
    const rpc = provider ?? endpoint ?? stack?.rpcUrl ?? missing("--rpc");
    const place = { rpc, url: typeof rpc === "string" ? rpc : endpoint, others };
    const found = new ChainAndFiles(args, stack, host.root, place, options);
    if (args.keyType !== undefined && (args.contract ?? found.stackContract) !== undefined)
      await found.checkKeyType(args.keyType);
    return found;
  }

  /** The registry of the local stack, if the chain is the stack's. */
  get stackContract(): string | undefined {
    return this.#stack?.contract;
  }

  get contract(): string {
    return checkAddress("--contract", this.#args.contract ?? this.#stack?.contract ?? missing("--contract"));
  }

  get merkleUrl(): string {
    return this.merkleUrlIfAny ?? missing("--merkle-url");
  }

  /** The URL of the file host, for commands that can do without it. */
  get merkleUrlIfAny(): string | undefined {
    const url = this.#args.merkleUrl ?? this.#stack?.merkleUrl;
    return url === undefined ? undefined : checkSourceUrl("merkleUrl", url, this.allowHttp);
  }

  /** True if unencrypted http to other machines is allowed. */
  get allowHttp(): boolean {
    return this.#args.allowHttp === true;
  }

  /** The folder or bucket in `--files`. Default: the local stack's folder. */
  get files(): string {
    return this.#args.files ?? this.#stack?.filesDir ?? missing("--files");
  }

  /** The expected chain id, for which transactions are also signed. It is never taken from the endpoint. */
  get chainId(): number {
    return this.#expectedChainId ?? missing("--chain-id");
  }

  /** True for a development chain on this machine. */
  get isLocal(): boolean {
    return this.#url !== undefined && isLocalChain(this.#url, this.chainId);
  }

  /**
   * Returns the endpoint's chain id, which must be the expected one, if any.
   * @param call calls the endpoint, or several ones
   * @throws VerificationError CHAIN_ID_MISMATCH if it differs from `--chain-id` or from the local stack's chain id
   */
  async verifyChainId(call: RpcCall = this.call): Promise<number> {
    const chain = new Chain(call);
    const expected = this.#expectedChainId;
    if (expected === undefined) return chain.chainId();
    await chain.verifyChainId(expected);
    return expected;
  }

  /**
   * Checks a key type against the one that `deploy` or the running local stack recorded for the registry, because the
   * chain does not contain it.
   * @throws ArgumentError KEY_TYPE_MISMATCH, and the errors of `readDeployments`
   */
  async checkKeyType(keyType: KeyTypeName, contract: string = this.contract): Promise<void> {
    if (this.#stack?.contract.toLowerCase() === contract.toLowerCase()) {
      await refuseOtherKeyType(keyType, this.#stack.keyType, contract, "the running local stack");
      return;
    }
    const deployments = await deploymentsOf(this.#root, contract);
    if (Array.from(deployments.values()).every((one) => (one.keyType ?? keyType) === keyType)) return;
    const path = await this.#deploymentsPath();
    await refuseOtherKeyType(keyType, deployments.get(path)?.keyType ?? keyType, contract, path);
  }

  /** Asks all endpoints for the chain, and takes the first answer, because one of them may fail. */
  async #deploymentsPath(): Promise<string> {
    const pathBy = async (call: RpcCall) => {
      const chain = new Chain(call);
      return await deploymentsPath(this.#root, chain, this.#expectedChainId ?? (await chain.chainId()));
    };
    if (this.#others.length === 0) return pathBy(this.call);
    const { allowHttp, retry, signal } = this;
    const calls = this.#others.map((url) => openEndpoint(url, { allowHttp, retry, signal }));
    const [{ answer }] = await new Quorum([this.call, ...calls], 1).first(pathBy);
    return answer;
  }

  get #expectedChainId(): number | undefined {
    return this.#args.chainId ?? this.#stack?.chainId;
  }
}

function missing(option: string): never {
  throw argumentInvalid(`${option} is missing.`);
}

/** @param source where the known type is recorded */
async function refuseOtherKeyType(
  keyType: KeyTypeName,
  known: KeyTypeName = "curve41417",
  contract: string,
  source: string,
): Promise<void> {
  if (keyType === known) return;
  const [expected, actual] = [await loadKeyType(known), await loadKeyType(keyType)];
  const message =
    `The registry ${contract} has ${expected.title} keys (${source}), but this command is for ${actual.title} keys. Set ` +
    `--key-type ${known}. If the registry has no users yet, 'deploy --key-type ${keyType}' changes its type.`;
  throw new ArgumentError("KEY_TYPE_MISMATCH", message, { expected: known, actual: keyType });
}

/**
 * Returns the source of files for an audit or a watch: the folder in `--files` if only that is set, otherwise the file
 * host.
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

/**
 * Returns the contract and chain that identify a saved state.
 * @param call calls the endpoint, or all of them with `--trust endpoints:N`
 * @throws VerificationError CHAIN_ID_MISMATCH, QUORUM_NOT_REACHED; TransportError
 */
export async function placeOf(chainAndFiles: ChainAndFiles, call: RpcCall): Promise<AuditTarget> {
  const contract = chainAndFiles.contract.toLowerCase();
  const chainId = await chainAndFiles.verifyChainId(call);
  const genesisHash = await new Chain(call).genesisHash(chainId);
  return { chainId, genesisHash, contract };
}
