import { secp256k1 } from "@noble/curves/secp256k1.js";
import { expect } from "chai";
import { computeAddress, hexlify, N } from "ethers";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FolderStore, publish, Registry, type Signer, signingSender } from "@keyroot/operator/publisher";
import { freshRegistry } from "../support/chain/freshRegistry.ts";
import { blocksOf, readPage } from "../support/pages.ts";
import { sampleRecords } from "../support/samples.ts";

type SignDigest = (digest: Uint8Array) => Promise<{ r: bigint; s: bigint }>;

describe("the signer in docs/publishing.md", () => {
  const fresh = freshRegistry();
  let folder: string;
  let kmsSigner: (address: string, signDigest: SignDigest) => Signer;

  before(async () => {
    const [code = ""] = blocksOf(await readPage("docs/publishing.md"), "ts");
    // The folder is in the repository, where Node finds the program's imports.
    folder = await mkdtemp(join(import.meta.dirname, ".signers-"));
    const path = join(folder, "signer.ts");
    await writeFile(path, code);
    ({ kmsSigner } = (await import(path)) as { kmsSigner: typeof kmsSigner });
  });
  after(() => rm(folder, { recursive: true }));

  /** A simulated KMS with its own key. It signs digests, and returns DER signatures with a low or a high value of s. */
  const makeKms = () => {
    const key = secp256k1.utils.randomSecretKey();
    const highS: boolean[] = [];
    const signDigest: SignDigest = (digest) => {
      const der = secp256k1.sign(digest, key, { prehash: false, lowS: false, format: "der" });
      const signature = secp256k1.Signature.fromBytes(der, "der");
      highS.push(signature.s > N / 2n);
      return Promise.resolve(signature);
    };
    return { address: computeAddress(hexlify(secp256k1.getPublicKey(key))), signDigest, highS };
  };

  it("publishes users with a key in a KMS", async () => {
    const { address, signDigest, highS } = makeKms();
    await fresh.call("eth_sendTransaction", [{ from: fresh.owner, to: address, value: "0x8ac7230489e80000" }]);
    const contract = await fresh.deploy(address);
    const registry = await Registry.connect(fresh.call, contract);
    const { chainId } = fresh;
    const send = signingSender(kmsSigner(address, signDigest), { chainId, contract, owner: address }, fresh.call);
    const store = new FolderStore(fresh.filesDir);
    // About half of all signatures have a high value of s, so 20 signatures include both kinds.
    const options = { registry, chainId, limits: "local" as const, store, send, usersPerFile: 1 };
    const { published } = await publish(sampleRecords(20), options);
    expect(published).to.have.length(20);
    expect(new Set(highS)).to.have.property("size", 2);
  });

  it("rejects a signature by another key", async () => {
    const [kms, other] = [makeKms(), makeKms()];
    const request = { from: kms.address, to: fresh.contract, data: "0x", nonce: "0x0", gas: "0x5208", gasPrice: "0x1" };
    const refused = await kmsSigner(kms.address, other.signDigest)
      .sign(request, 31337)
      .catch((error: unknown) => error);
    expect(String(refused)).to.contain("The KMS did not sign with the key of");
  });
});
