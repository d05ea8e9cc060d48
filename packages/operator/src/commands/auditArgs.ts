import { resolve } from "node:path";
import { fetchGenesisHash } from "keyroot/ethereum";
import { DEFAULT_LIMITS } from "keyroot/transport";
import type { FileSource } from "../audit/fileSource.ts";
import type { AuditTarget } from "../audit/stateFile.ts";
import type { Target } from "./target.ts";

/** Where the files are: in the folder of `--files`, or otherwise at their host. @throws ArgumentError ARGUMENT_INVALID */
export function filesOf(args: { files: string | undefined; fileBytes: number }, target: Target): FileSource {
  const limits = { maxBytes: args.fileBytes, timeoutMs: DEFAULT_LIMITS.timeoutMs };
  return args.files === undefined
    ? { merkleUrl: target.merkleUrl, allowHttp: target.allowHttp, ...limits }
    : { dir: resolve(args.files), ...limits };
}

/** Which contract on which chain, as states are bound to it. @throws VerificationError CHAIN_ID_MISMATCH; TransportError */
export async function placeOf(target: Target): Promise<AuditTarget> {
  const contract = target.contract.toLowerCase();
  const chainId = await target.checkChainId();
  const genesisHash = await fetchGenesisHash(target.call);
  return { chainId, genesisHash, contract };
}
