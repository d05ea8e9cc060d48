import { base64ToBytes } from "../../bytes/base64.ts";
import { TransportError } from "../../errors.ts";
import { makeKeyRecord } from "../../identity/keyRecord.ts";
import { type KeyRecord, serializeKeyRecord } from "../../identity/serializedRecord.ts";
import { chunkNumber, MAX_CHUNK_BYTES } from "../../merkle/chunkNumber.ts";
import { findInLeafChunk } from "../../merkle/findInLeafChunk.ts";
import { hashLeaf } from "../../merkle/hash.ts";
import { decodeUserInfo, encodeGetUserInfo, type UserInfo } from "../../registry/userInfo.ts";
import type { Store } from "../../store/store.ts";
import { recoverable, withTimeout } from "../../transport/timeout.ts";
import type { AuditedKey, KeyProof } from "../addedSources.ts";
import { fetchFile } from "./fetchStatement.ts";
import type { CountedStatement, StatementQuery } from "./findStatement.ts";
import { MAX_ROOT_PROOF_BYTES, parseSubtrees, verifyRootProof } from "./rootProof.ts";
import type { RootEntry } from "./rootTree.ts";
import { serializeStatement } from "./statement.ts";
import { acceptAgain, loadStatement, storeStatement } from "./storedStatement.ts";
import type { AuditorPolicy } from "./verifyStatement.ts";

/** The contract, the host of the leaf chunks, and the store for the newest verified statement. */
export interface KeyProverOptions extends Pick<StatementQuery, "place"> {
  /** The URL of the folder with the Merkle-tree files and leaf chunks. */
  merkleUrl: string;
  store: Store;
}

/** The auditors that the verifier trusts now, and the folders with the auditors' statements. */
export interface StatementSearch extends Pick<StatementQuery, "policy" | "folders"> {
  findNewest: () => Promise<CountedStatement>;
}

/** A verified statement, and the verified parts of the statement's tree. */
interface KnownTree {
  statement: CountedStatement;
  /** The top hash of each complete subtree. */
  tops?: readonly Uint8Array[];
  /** The tree's verified leaves. The map's keys are the Merkle roots that the leaves describe. */
  entries: Map<string, RootEntry>;
}

/**
 * The fraction of a verification's time limit for all proofs. The rest of the time is enough to read the whole file.
 */
const SHARE = 0.4;
/** The fraction of a verification's time limit for one request. */
const REQUEST_SHARE = 0.1;

/**
 * Verifies keys with two short proofs instead of the whole file (docs/formats.md, "Root proof", "Leaf chunk"). The
 * first proof shows that the statement's tree includes the root. This proof also shows that all users in the root's
 * file have the root. The second proof shows that the root's tree includes the record. An endpoint reports the user's
 * root without proof. A false root has no valid pair of proofs.
 */
export class KeyProver {
  private readonly options: KeyProverOptions;
  private known: KnownTree | undefined;
  /** The requests of each verification by name. All users of a contact list share these requests. */
  private readonly requests = new WeakMap<object, Map<string, Promise<Uint8Array>>>();

  constructor(options: KeyProverOptions) {
    this.options = options;
  }

  /**
   * Proves that a user has the expected key.
   * @returns undefined if there is no valid proof. In this case, the caller must read the whole file.
   * @throws TransportError ABORTED; and the errors of the caller's store
   */
  async prove(
    { userID, expectedPublicKey, contract }: Parameters<KeyProof>[0],
    { calls: [call], http }: Parameters<KeyProof>[1],
    now: () => number,
    { policy, folders, findNewest }: StatementSearch,
  ): Promise<AuditedKey | undefined> {
    // Without the expected key, the record is unknown and cannot be proven.
    if (call === undefined || typeof expectedPublicKey === "symbol") return undefined;
    const timeoutMs = (share: number) => Math.max(1, Math.floor(http.timeoutMs * share));
    const limits = { ...http, timeoutMs: timeoutMs(REQUEST_SHARE) };
    const requests = this.requests.get(http) ?? new Map<string, Promise<Uint8Array>>();
    this.requests.set(http, requests);
    const request: Requests = (folder, name, maxBytes) => {
      const key = `${folder}/${name}`;
      const sent = requests.get(key) ?? fetchFile(folder, name, { ...limits, maxBytes });
      requests.set(key, sent);
      return sent;
    };
    const work = async () => {
      // `makeKeyRecord` also checks the key.
      const record = makeKeyRecord(userID, expectedPublicKey);
      const earlier = await this.load(policy, now());
      const [tree, answer] = await Promise.all([
        earlier ?? findNewest().then((statement) => this.keep(statement)),
        call("eth_call", [{ to: contract, data: encodeGetUserInfo(userID) }, "latest"]),
      ]);
      const info = decodeUserInfo(answer);
      if (info === undefined) return undefined;
      const proveIn = (tree: KnownTree) => this.proveIn(tree, info, record, { folders, request });
      const proven = await ifPossible(() => proveIn(tree));
      if (proven !== undefined || earlier === undefined) return proven;
      // The user's key may be newer than the earlier statement.
      const newest = await this.keep(await findNewest());
      return newest === earlier ? undefined : proveIn(newest);
    };
    return ifPossible(() => withTimeout("The proof", timeoutMs(SHARE), http.signal, work));
  }

  private async proveIn(
    tree: KnownTree,
    { root, blockNumber }: UserInfo,
    record: KeyRecord,
    sources: ProofSources,
  ): Promise<AuditedKey> {
    if (blockNumber > tree.statement.block.number) throw unavailable("The root is newer than the statement.");
    const { recordCount: leafCount, userCount } = await this.entryOf(tree, root, sources);
    if (leafCount !== userCount) throw unavailable(`Some users of ${root}.json have an older root.`);
    const chunk = `${root}/${chunkNumber(record.userID, leafCount)}.bin`;
    const bytes = await sources.request(this.options.merkleUrl, chunk, MAX_CHUNK_BYTES);
    const index = findInLeafChunk(bytes, hashLeaf(serializeKeyRecord(record)), { root, leafCount });
    const { auditors } = tree.statement;
    const evidence = { anchor: "auditors", storageProof: false, auditors, uniqueness: "auditors" } as const;
    return { record, index, publicKey: base64ToBytes(record.pubKey), root, blockNumber, evidence };
  }

  /** Returns the verified leaf of a root. */
  private async entryOf(tree: KnownTree, root: string, { folders, request }: ProofSources): Promise<RootEntry> {
    const known = tree.entries.get(root);
    if (known !== undefined) return known;
    const { tree: statementTree, block } = tree.statement;
    // Try all folders, because a folder may be false, outdated or unreachable.
    const first = <T>(name: string, parse: (source: Uint8Array) => T) =>
      firstOf(folders, async (folder) => parse(await request(folder, `${name}.txt`, MAX_ROOT_PROOF_BYTES)));
    const tops = (tree.tops ??= await first(`${block.number}-subtrees`, (source) =>
      parseSubtrees(source, statementTree),
    ));
    const entry = await first(`roots/${root}`, (source) => verifyRootProof(source, root, statementTree.size, tops));
    tree.entries.set(root, entry);
    return entry;
  }

  /** Returns the last verified statement if the policy still accepts this statement. */
  private async load(policy: AuditorPolicy, now: number): Promise<KnownTree | undefined> {
    const { store, place } = this.options;
    if (this.known === undefined) {
      const stored = await loadStatement(store, place, policy, now);
      return (this.known ??= stored && { statement: stored, entries: new Map() });
    }
    const statement = acceptAgain(this.known.statement, policy, now);
    return statement && Object.assign(this.known, { statement });
  }

  private async keep(statement: CountedStatement): Promise<KnownTree> {
    const { store, place } = this.options;
    const isSame = ({ statement: known }: KnownTree) => serializeStatement(known) === serializeStatement(statement);
    if (this.known === undefined || !isSame(this.known)) this.known = { statement, entries: new Map() };
    const { known } = this;
    // The same statement may now have newer signatures.
    known.statement = statement;
    await storeStatement(store, place, statement);
    return known;
  }
}

interface ProofSources {
  folders: readonly string[];
  request: Requests;
}

/** Fetches a file from a folder. A verification requests each file only once. */
type Requests = (folder: string, name: string, maxBytes: number) => Promise<Uint8Array>;

/** Tries the folders in order, and returns the first result. @throws the last error */
async function firstOf<T>(folders: readonly string[], read: (folder: string) => Promise<T>): Promise<T> {
  let failure: unknown;
  for (const folder of folders) {
    try {
      return await read(folder);
    } catch (error) {
      failure = recoverable(error);
    }
  }
  throw failure;
}

/** Returns the result of `work`, or undefined if there is no valid proof. */
async function ifPossible<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    recoverable(error);
    return undefined;
  }
}

function unavailable(message: string): TransportError {
  return new TransportError("FILE_HOST_ERROR", message);
}
