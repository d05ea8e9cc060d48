import { decodeMerkleTreeRoot } from "../registry/answers.ts";
import { encodeGetMerkleTreeRoot } from "../registry/calldata.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { Quorum } from "../trust/quorum.ts";
import { callContract } from "./callContract.ts";
import type { RootQuery } from "./options.ts";
import type { VerifierServers } from "./servers.ts";

/** The download of a file that began before the evidence for its root was complete. */
export interface HintedFile {
  root: string;
  file: Promise<Uint8Array>;
}

/**
 * Reads a user's root without evidence and starts to download the root's file. The download then runs while the
 * evidence is requested, so a verification is as fast as an unproven read. The caller uses the file only after the
 * evidence has confirmed the root. A false answer therefore costs a download, but never changes a verdict.
 * @returns undefined if no endpoint answers with a root. The caller's own requests then report the reason.
 */
export async function startDownload(
  { userID, contract }: RootQuery,
  calls: readonly RpcCall[],
  fetchFile: VerifierServers["fetchFile"],
): Promise<HintedFile | undefined> {
  try {
    const data = encodeGetMerkleTreeRoot(userID);
    // These votes are separate from those of the evidence, so that errors here do not appear in its errors.
    const [{ answer }] = await new Quorum(calls, 1).first((call) => callContract(call, contract, data, "latest"));
    const root = decodeMerkleTreeRoot(answer);
    if (root === undefined) return undefined;
    const file = fetchFile(root);
    file.catch(() => undefined);
    return { root, file };
  } catch {
    return undefined;
  }
}
