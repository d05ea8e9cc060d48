import { loadModule } from "../engine/loadModule.ts";
import { openAccounts } from "../account/choice.ts";
import { decodeUtf8 } from "../engine/utf8.ts";
import { VerificationError } from "../errors.ts";
import { ANY_KEY } from "../identity/compareKey.ts";
import type { UserID } from "../identity/userID.ts";
import { parseMerkleFile } from "../merkle/parseMerkleFile.ts";
import { makeMerkleProof } from "../merkle/proof.ts";
import { extractHeader } from "../ethereum/header.ts";
import { extractProof } from "../ethereum/storageProof.ts";
import { type RpcCall, rpcCaller } from "../transport/jsonRpc.ts";
import { type Bundle, verifyBundle, type VerifiedBundle } from "./bundle.ts";
import { usersSlotOf } from "../registry/slots.ts";
import type { BlockSource } from "../trust/blockSource.ts";
import { pinnedBlock } from "../trust/pinnedBlock.ts";
import { openTrust } from "../trust/trust.ts";
import {
  checkAccountOption,
  type Endpoint,
  type KeyOptions,
  type KeyQuery,
  parseKeyQuery,
  parseRegistryReference,
  type VerifierOptions,
} from "./options.ts";
import { readRootAtBlock } from "./readRootAtBlock.ts";
import { parseServers, type VerifierServers, withServers } from "./servers.ts";
import { verifyRoot } from "./verdict.ts";
import type { AccountSlot } from "./accountSlot.ts";

/** The options of `makeBundle`: those of a verifier that a bundle needs, with one endpoint. */
export type MakeBundleOptions = { rpc: Endpoint } & Pick<KeyOptions, "account" | "signal"> &
  Omit<VerifierOptions, "rpc" | "publicationMs" | "cache" | "maxOfflineMs">;

const OPTIONS: (keyof MakeBundleOptions)[] = [
  ...(["rpc", "chainId", "contract", "merkleUrl", "trust"] as const),
  ...(["codeHash", "keyType", "accounts", "account", "limits", "allowHttp", "signal", "fetch"] as const),
];

/** A bundle, and the facts that it proves to readers who trust its block. */
export interface MadeBundle {
  bundle: Bundle;
  verified: VerifiedBundle;
}

/**
 * Makes a bundle, with which others can verify a user's published key offline. The bundle contains a storage proof of
 * the contract's answer at a block, and the user's record from the file of the root. Before the bundle is returned,
 * `verifyBundle` checks it as a reader does.
 *
 * The evidence for the block depends on `trust`. With `auditors`, the bundle contains the auditors' statement about the
 * block. With `oneEndpoint`, the block is an unproven answer of that endpoint.
 * @param userID 32 lowercase characters of zBase32
 * @throws VerificationError, TransportError, ArgumentError as `Verifier.verify`
 * @example
 * const { bundle } = await makeBundle(userID, {
 *   rpc: "https://rpc.example",
 *   chainId: 1,
 *   contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
 *   merkleUrl: "https://files.example",
 *   trust: oneEndpoint(),
 * });
 * const text = JSON.stringify(bundle);
 */
export async function makeBundle(userID: UserID, options: MakeBundleOptions): Promise<MadeBundle> {
  const query = parseKeyQuery(parseRegistryReference(options, OPTIONS), userID, ANY_KEY);
  const { chainId, contract } = query;
  // The bundle contains the storage proof, even if the source would accept an answer without one.
  const source: BlockSource = { ...openTrust(options.trust, options), storageProof: true };
  const { accounts, account } = options;
  const verifyAccountFile = accounts === undefined ? undefined : openAccounts(accounts);
  checkAccountOption({ verifyAccountFile }, account);
  const answers = new Map<string, unknown>();
  const loaded = verifyAccountFile && (await loadModule(() => import("./accountSlot.ts")));
  const make = async (servers: VerifierServers, slot?: AccountSlot, accountFile?: Uint8Array) => {
    const target = slot?.query ?? query;
    const reading = await readRootAtBlock(target, source, servers, Date.now);
    const { evidence, statement } = reading;
    const root = loaded && slot ? loaded.verifySlotRoot(slot, reading) : verifyRoot(target, reading.answers, evidence);
    const file = parseMerkleFile(await servers.fetchFile(root), root, query.keyType);
    const { hash = "" } = evidence.block ?? {};
    const proofs = answers.get("eth_getProof");
    const emptySlot = accountFile && {
      file: decodeUtf8(accountFile),
      ...toLowerCase({ storageProof: extractProof(proofs, 1).storageProof }),
    };
    const bundle: Bundle = {
      format: "keyroot-bundle-v1",
      chainId,
      contract: contract.toLowerCase(),
      codeHash: String(reading.answers.codeHash),
      usersSlot: usersSlotOf(query),
      proof: makeMerkleProof(file, target.userID),
      header: toLowerCase(extractHeader(await readHeader(answers, servers, hash))),
      ...toLowerCase(extractProof(proofs)),
      ...(emptySlot && { account: emptySlot }),
      ...(statement !== undefined && { statement }),
    };
    const verified = await verifyBundle(bundle, { ...query, accounts, trust: pinnedBlock(hash) });
    return { bundle, verified: { ...verified, evidence } };
  };
  const makeNewest = (servers: VerifierServers) =>
    loaded
      ? withNewestFile(loaded, query, account, servers, (file) =>
          make(servers, loaded.findSlot({ verifyAccountFile }, query, file), file),
        )
      : make(servers);
  return withServers(parseServers(options, source), makeNewest, {
    signal: options.signal,
    connect: (rpc, options) => recordAnswers(rpcCaller(rpc, options), answers),
  });
}

/**
 * Runs `work` with the newest account file of a user. The app's file is tried first. If the chain has a root for the
 * file's next slot, the user has changed the key since the file was made. Then `work` runs again with other files of
 * the file host: first the file with a change that is being published, then the file that everyone reads. If the app
 * has no file, the file that everyone reads is tried first.
 */
async function withNewestFile<T>(
  { accountFileBytes, fetchHostedFile, isMissing }: typeof import("./accountSlot.ts"),
  query: KeyQuery,
  account: KeyOptions["account"],
  servers: VerifierServers,
  work: (file: Uint8Array) => Promise<T>,
): Promise<T> {
  let unproven: unknown;
  const next = () => fetchHostedFile(query, servers, ".next");
  const hosted = () => fetchHostedFile(query, servers);
  const known = account === undefined ? undefined : () => Promise.resolve(accountFileBytes(account));
  const files = known ? [known, next, hosted] : [hosted, next];
  for (const read of files) {
    try {
      return await work(await read());
    } catch (error) {
      // That the chain refuted an older file says more than that the file host has no newer one.
      if (unproven !== undefined && isMissing(error)) continue;
      if (!(error instanceof VerificationError) || error.code !== "SUCCESSOR_UNPROVEN") throw error;
      unproven = error;
    }
  }
  throw unproven;
}

/** Returns the endpoint's header of the block, which is requested only if the source did not fetch it. */
function readHeader(answers: ReadonlyMap<string, unknown>, { calls: [call] }: VerifierServers, hash: string): unknown {
  return (
    answers.get("eth_getBlockByHash") ??
    answers.get("eth_getBlockByNumber") ??
    call?.("eth_getBlockByHash", [hash, false])
  );
}

/** Wraps a function that sends calls, and records the last answer to each RPC method. */
function recordAnswers(call: RpcCall, answers: Map<string, unknown>): RpcCall {
  return async (method, params) => {
    const answer = await call(method, params);
    answers.set(method, answer);
    return answer;
  };
}

/** Converts hex to lower case, which bundles require. Endpoints may also write uppercase letters. */
function toLowerCase<T extends object>(parts: T): T {
  const revive = (_: string, value: unknown) => (typeof value === "string" ? value.toLowerCase() : value);
  return JSON.parse(JSON.stringify(parts), revive) as T;
}
