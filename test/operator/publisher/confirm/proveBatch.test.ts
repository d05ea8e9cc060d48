import { expect } from "chai";
import { type Batch, type FetchFile, packBatch } from "@keyroot/operator/publisher";
import { bytesToBase64 } from "keyroot/internal/bytes";
import { type KeyrootError, VerificationError } from "keyroot/internal/errors";
import { keyIDOf } from "keyroot/internal/identity";
import { makeMerkleFile } from "keyroot/internal/merkle";
import type { ChainReading } from "../../../../packages/operator/src/follow/index.ts";
import { proveBatch } from "../../../../packages/operator/src/publisher/confirm/proveBatch.ts";
import { sampleRecords, sha256, textOf } from "../../../support/samples.ts";
import { failure } from "../../../support/support.ts";

const OTHER = sha256("other");
const target = {
  chainId: 31337,
  genesisHash: `0x${"1".repeat(64)}`,
  contract: `0x${"2".repeat(40)}`,
  owner: `0x${"3".repeat(40)}`,
};

describe("proveBatch", () => {
  const file = makeMerkleFile(sampleRecords(3));
  const { root } = file.tree;
  const userIDs = file.records.map(({ userID }) => userID);
  const [first = "", second = "", third = ""] = userIDs;
  const batch = packBatch(root, textOf(file).length, userIDs);
  const serve: FetchFile = () => Promise.resolve(Buffer.from(textOf(file)));

  const prove = (
    roots: ChainReading["roots"],
    {
      chainId = target.chainId,
      of = batch,
      fetchFile = serve,
      verifiedSha256,
    }: { chainId?: number; of?: Batch; fetchFile?: FetchFile; verifiedSha256?: string } = {},
  ) => proveBatch(of, target, { chainId, roots }, fetchFile, verifiedSha256);
  /** Returns the step and the code of a failed proof, as "step: CODE". */
  const failureOf = async (proof: Promise<unknown>) => {
    const error = (await failure(proof)) as KeyrootError;
    return error instanceof VerificationError ? `${error.step}: ${error.code}` : error.code;
  };

  it("proves the users who have the batch's root", async () => {
    expect(await prove([root, root, root])).to.deep.equal({ userIDs, superseded: [] });
  });

  it("returns users who have a different root as superseded", async () => {
    expect(await prove([root, OTHER, root])).to.deep.equal({
      userIDs: [first, third],
      superseded: [{ userID: second, root: OTHER }],
    });
  });

  it("fetches no file if all users have different roots", async () => {
    const fetchFile = () => Promise.reject(new Error("not needed"));
    expect((await prove([OTHER, OTHER, OTHER], { fetchFile })).userIDs).to.deep.equal([]);
  });

  it("verifies the same bytes only once", async () => {
    const verified = Buffer.from("verified before");
    const fetchFile = () => Promise.resolve(verified);
    const options = { fetchFile, verifiedSha256: sha256(verified) };
    expect(await prove([root, OTHER, root], options)).to.deep.equal({
      userIDs: [first, third],
      superseded: [{ userID: second, root: OTHER }],
    });
  });

  it("verifies the served file again if its content has changed", async () => {
    const verifiedSha256 = sha256(Buffer.from(textOf(file)));
    const spaced = () => Promise.resolve(Buffer.from(` ${textOf(file)}`));
    expect(await prove([root, root, root], { fetchFile: spaced, verifiedSha256 })).to.have.property("userIDs");
    const other = () => Promise.resolve(Buffer.from(textOf(makeMerkleFile(sampleRecords(3, 2)))));
    expect(await failureOf(prove([root, root, root], { fetchFile: other, verifiedSha256 }))).to.equal(
      "tree: ROOT_MISMATCH",
    );
  });

  it("fails if the endpoint's response is for a different chain", async () => {
    expect(await failureOf(prove([root, root, root], { chainId: 1 }))).to.equal("root: CHAIN_ID_MISMATCH");
  });

  it("fails if the endpoint reports that a user has no root", async () => {
    expect(await failureOf(prove([root, root, undefined]))).to.equal("root: NOT_PUBLISHED");
    expect(await failureOf(prove([root, root]))).to.equal("root: NOT_PUBLISHED");
  });

  it("fails if a response is not a root", async () => {
    expect(await failureOf(prove([root, "12", root]))).to.equal("RPC_ANSWER_INVALID");
  });

  it("fails if the served file contains a different tree", async () => {
    const other = makeMerkleFile(sampleRecords(3, 2));
    const fetchFile = () => Promise.resolve(Buffer.from(textOf(other)));
    expect(await failureOf(prove([root, root, root], { fetchFile }))).to.equal("tree: ROOT_MISMATCH");
  });

  it("fails if a user is missing from the served file", async () => {
    const [stranger = ""] = sampleRecords(1, 2).map(({ userID }) => userID);
    const of = packBatch(root, batch.fileBytes, [first, second, stranger]);
    expect(await failureOf(prove([root, root, root], { of }))).to.equal("record: USER_NOT_IN_FILE");
  });

  it("fails if a user's record has an invalid key or key id", async () => {
    const [record, ...others] = sampleRecords(3);
    if (record === undefined) throw new Error("missing");
    const notAKey = Buffer.from(record.pubKey, "base64").fill(0, 0, 1);
    for (const [changes, code] of [
      [{ keyID: others[0]?.keyID ?? "" }, "KEY_ID_MISMATCH"],
      [{ pubKey: notAKey.toString("base64"), keyID: bytesToBase64(keyIDOf(notAKey)) }, "PUBLIC_KEY_FORMAT"],
    ] as const) {
      const forged = makeMerkleFile([{ ...record, ...changes }, ...others]);
      const of = packBatch(forged.tree.root, batch.fileBytes, userIDs);
      const fetchFile = () => Promise.resolve(Buffer.from(textOf(forged)));
      const roots = userIDs.map(() => forged.tree.root);
      expect(await failureOf(prove(roots, { of, fetchFile }))).to.equal(`record: ${code}`);
    }
  });
});
