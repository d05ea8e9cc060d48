import { id } from "ethers";
import type { KeyRecord } from "keyroot/identity";
import type { MerkleProof } from "keyroot/merkle";
import { CODE_HASH, hashOf } from "../../../test/support/data/plainBundle.ts";
import { sampleBundle, type SampleBundle, type SampleChain } from "./sampleBundle.ts";
import { SampleFile } from "./sampleFile.ts";
import { proofIn } from "./sampleProof.ts";
import { type BundleQuery, toInput, type Vector } from "./vector.ts";

/** Bundles that verify a key, from many chains, including unusual ones. */
export function goodBundles(): Vector<BundleQuery>[] {
  const file = new SampleFile(5);
  const proof = proofIn(file, 1);
  const sample = sampleBundle(proof);
  const { bundle, question } = sample;
  const fields = Object.entries(bundle.header);
  const of = (chain: SampleChain) => sampleBundle(proof, chain);
  const withHeader = (header: Record<string, string>): SampleBundle => {
    return { bundle: { ...bundle, header }, question: { ...question, pinned: hashOf(header) } };
  };
  const reversed = {
    ...Object.fromEntries(Object.entries(bundle).reverse()),
    header: Object.fromEntries(fields.toReversed()),
  };

  return [
    ...[1, 2, 3, 700].map((users) => {
      const proof = proofIn(new SampleFile(users), users - 1);
      return good(`bundle-of-${users}`, `the last user of ${users}`, sampleBundle(proof), proof);
    }),
    ...(
      [
        ["bundle-leaves-alone", "no node above the leaves", { accountPath: [], storagePath: [] }],
        ["bundle-depth-2-and-1", "two branches above the account, one above the slot", { accountPath: branches(2) }],
        ["bundle-depth-1-and-2", "one branch above the account, two above the slot", { storagePath: branches(2) }],
        [
          "bundle-depth-8",
          "eight full branches on either way, as on mainnet",
          { accountPath: branches(8), storagePath: branches(8) },
        ],
        [
          "bundle-extension",
          "extensions over one nibble and over two",
          { accountPath: [1, "branch"], storagePath: [2, "branch"] },
        ],
        [
          "bundle-extension-below",
          "extensions below branches",
          { accountPath: ["branch", 4, "branch"], storagePath: ["branch", 3, "branch"] },
        ],
        ["bundle-chain-id", "another chain", { chainId: 11155111 }],
        ["bundle-contract", "another contract", { contract: `0x${"ab".repeat(20)}` }],
      ] satisfies [string, string, SampleChain][]
    ).map(([name, about, chain]) => good(name, about, of(chain), proof)),
    good("bundle-users-slot", "the mapping in another slot, and a question that says so", of({ usersSlot: 1 }), proof, {
      usersSlot: 1,
    }),
    good("bundle-code-hash", "the code's hash is the pinned one", sample, proof, { codeHash: CODE_HASH }),
    good(
      "bundle-asked-in-upper-case",
      "a question with the contract in upper case",
      of({ contract: `0x${"ab".repeat(20)}` }),
      proof,
      {
        contract: `0x${"AB".repeat(20)}`,
      },
    ),
    good("bundle-expected-key", "the key that was handed out is the published one", sample, proof, {
      expectedPublicKey: file.record(1).pubKey,
    }),
    ...[15, 16, 17, 20].map((fork) =>
      good(
        `bundle-header-of-${fork}`,
        `a header of an older fork, with ${fork} fields`,
        withHeader(Object.fromEntries(fields.slice(0, fork))),
        proof,
      ),
    ),
    good(
      "bundle-header-of-23",
      "a header with the two fields that Amsterdam adds",
      withHeader({ ...bundle.header, blockAccessListHash: id("list"), slotNumber: "0xb71b00" }),
      proof,
    ),
    good(
      "bundle-header-extra-data",
      "no extra data, and other numbers of zero",
      withHeader({ ...bundle.header, extraData: "0x", gasUsed: "0x0", timestamp: "0x0" }),
      proof,
    ),
    reformatted("bundle-in-other-spacing", "any white space of JSON", ` \r\n${JSON.stringify(bundle, null, "\t")}\n`),
    reformatted(
      "bundle-in-other-key-order",
      "the keys of bundle and header the other way round",
      JSON.stringify(reversed),
    ),
    reformatted("bundle-largest", "65,536 bytes, for spaces behind the end", JSON.stringify(bundle).padEnd(2 ** 16)),
  ];

  function reformatted(name: string, about: string, text: string): Vector<BundleQuery> {
    return { ...good(name, about, sample, proof), input: toInput(Buffer.from(text)) };
  }
}

function branches(count: number): "branch"[] {
  return Array.from({ length: count }, () => "branch");
}

function good(
  name: string,
  about: string,
  { bundle, question }: SampleBundle,
  { value, root }: MerkleProof,
  query: Partial<BundleQuery> = {},
): Vector<BundleQuery> {
  const { userID, pubKey, keyID } = JSON.parse(value) as KeyRecord;
  const { number, timestamp } = bundle.header;
  const block = { number: Number(number), timestamp: Number(timestamp) };
  return {
    name,
    about,
    question: { ...question, ...query },
    input: toInput(Buffer.from(JSON.stringify(bundle))),
    verdict: { verified: { record: { userID, pubKey, keyID }, root, block } },
  };
}
