import { expect } from "chai";
import { createHash, randomBytes, sign, webcrypto } from "node:crypto";
import hre from "hardhat";
import { AdminClient } from "@keyroot/client/operator";
import { PartnerClient } from "@keyroot/client/partner";
import { type ExternalKey, type OwnKey, type PossessionStatement, UserClient } from "@keyroot/client/user";
import { createVerifier, oneEndpoint } from "keyroot";
import { document, ed25519, type KeyType, p256, x25519 } from "keyroot/key-types";
import { generateKeyPair, possessionTranscript, responseOf } from "keyroot/records";
import { type Stack, startStack } from "../../../packages/service/src/stack/startStack.ts";
import { privateKeyOf, publicKeyOf } from "../../support/data/keysOfTypes.ts";
import { failure, never } from "../../support/support.ts";
import { testAll } from "../../support/testSize.ts";

const { subtle } = webcrypto;
type Signing = "x25519" | "ed25519" | "p256";

/** Returns the last 32 bytes of a private key in PKCS #8. For P-256, the secret is in the middle instead. */
function secretOf(type: Signing, number: number): Uint8Array {
  const { d = "" } = privateKeyOf(type, number).export({ format: "jwk" });
  return Uint8Array.from(Buffer.from(d, "base64url"));
}

/** A key that cannot be exported. */
async function cryptoKeyOf(type: Signing): Promise<OwnKey> {
  const algorithm = { x25519: "X25519", ed25519: "Ed25519", p256: { name: "ECDSA", namedCurve: "P-256" } }[type];
  const usages: webcrypto.KeyUsage[] = type === "x25519" ? ["deriveBits"] : ["sign", "verify"];
  const pair = (await subtle.generateKey(algorithm, false, usages)) as webcrypto.CryptoKeyPair;
  return { publicKey: new Uint8Array(await subtle.exportKey("raw", pair.publicKey)), privateKey: pair.privateKey };
}

/** A key in hardware, which computes shared secrets or signatures. P-256 signatures have the DER form. */
function hardwareKeyOf(type: Signing, number: number): ExternalKey {
  const publicKey = Uint8Array.from(publicKeyOf(type, number));
  const key = privateKeyOf(type, number);
  if (type !== "x25519")
    return {
      publicKey,
      prove: (statement) => sign(type === "p256" ? "sha256" : null, possessionTranscript(statement), key),
    };
  const prove = async (statement: PossessionStatement) => {
    const own = await subtle.importKey("jwk", key.export({ format: "jwk" }), "X25519", false, ["deriveBits"]);
    const other = await subtle.importKey("raw", Uint8Array.from(statement.ephemeralKey), "X25519", false, []);
    const shared = await subtle.deriveBits({ name: "X25519", public: other }, own, 256);
    return responseOf(statement, new Uint8Array(shared));
  };
  return { publicKey, prove };
}

const KEY_TYPES: readonly KeyType[] = testAll ? [x25519, ed25519, p256, document] : [x25519, document];

for (const keyType of KEY_TYPES)
  describe(`a service with ${keyType.name} keys`, () => {
    let stack: Stack;
    let admin: AdminClient;
    let partner: PartnerClient;
    let bizID: string;
    before(async () => {
      stack = await startStack(hre, { ports: { chain: 0, files: 0, service: 0 }, keyType: keyType.name });
      const { serviceUrl, adminToken } = stack.service ?? never();
      admin = new AdminClient({ serviceUrl, adminToken });
      bizID = (await admin.createPartner("A company")).biz_id;
      const { token } = await admin.createServerToken(bizID);
      partner = new PartnerClient({ serviceUrl, bizID, serverToken: token, keyType });
    });
    after(() => stack.close());

    const newUser = async (options: Partial<ConstructorParameters<typeof UserClient>[0]> = {}) => {
      const { user_id: userID } = await partner.createUser(randomBytes(20).toString("hex"), "eu-west-1");
      const refreshToken = await partner.createUserRefreshToken(userID, "a phone");
      const { chainId, contract } = stack;
      const serviceUrl = stack.service?.serviceUrl ?? never();
      const client = new UserClient({ serviceUrl, bizID, refreshToken, chainId, contract, keyType, ...options });
      return { userID, client };
    };
    const verify = async (userID: string) => {
      const { client } = await newUser();
      const { rpcUrl: rpc, chainId, contract, merkleUrl } = stack;
      const verifier = createVerifier({ rpc, chainId, contract, merkleUrl, trust: oneEndpoint(), keyType });
      return (await client.publicKeyOf(userID, verifier)).publicKey;
    };

    if (keyType.name === "document") {
      it("publishes what the partner registers, and users verify it", async () => {
        const hash = createHash("sha256").update("a list of devices").digest();
        const { userID, client } = await newUser();
        const registered = await partner.registerDocument(userID, hash);
        expect(registered).to.include({ state: "pending", possession: "unproven" });
        expect(await partner.registerDocument(userID, hash)).to.deep.equal(registered);
        expect(await failure(partner.registerDocument(userID, randomBytes(32)))).to.include({
          code: "PUBLIC_KEY_REGISTERED",
        });
        expect(await client.record()).to.include({ state: "pending", public_key: hash.toString("base64") });
        await admin.publishRegistered();
        expect(Buffer.from(await verify(userID))).to.deep.equal(hash);
      });

      it("rejects registration by users, who cannot prove anything", async () => {
        const { client } = await newUser();
        const key = { publicKey: randomBytes(32), privateKey: randomBytes(32) };
        expect(await failure(client.register(key))).to.include({ code: "PARTNER_REQUIRED", status: 403 });
        const other = await newUser({ keyType: x25519 });
        const wrong = { publicKey: Uint8Array.from(publicKeyOf("x25519", 1)), privateKey: secretOf("x25519", 1) };
        expect(await failure(other.client.register(wrong))).to.include({ code: "PARTNER_REQUIRED", status: 403 });
      });
      return;
    }

    const type = keyType.name as Signing;
    it("publishes keys as bytes, as CryptoKeys and in hardware, and users verify them", async () => {
      const own: OwnKey = { publicKey: Uint8Array.from(publicKeyOf(type, 1)), privateKey: secretOf(type, 1) };
      const keys = [own, await cryptoKeyOf(type), hardwareKeyOf(type, 2)];
      const users = [];
      for (const key of keys) {
        const { userID, client } = await newUser();
        const registered = await client.register(key);
        expect(registered).to.include({ state: "pending", possession: "proven" });
        expect(await client.register(key)).to.deep.equal(registered);
        users.push({ userID, publicKey: key.publicKey });
      }
      expect(await admin.publishRegistered()).to.have.length(1);
      for (const { userID, publicKey } of users)
        expect(Buffer.from(await verify(userID))).to.deep.equal(Buffer.from(publicKey));
      expect(await partner.publicKeyOf(users[0]?.userID ?? never())).to.include({ state: "published" });
    });

    it("rejects another key's proof, and a proof for another user", async () => {
      const { client } = await newUser();
      const victim = Uint8Array.from(publicKeyOf(type, 3));
      const foreign = hardwareKeyOf(type, 4).prove;
      expect(await failure(client.register({ publicKey: victim, prove: foreign }))).to.include({
        code: "POSSESSION_REFUSED",
      });
      const { prove } = hardwareKeyOf(type, 3);
      const relayed = (statement: PossessionStatement) => prove({ ...statement, userID: "y".repeat(32) });
      expect(await failure(client.register({ publicKey: victim, prove: relayed }))).to.include({
        code: "POSSESSION_REFUSED",
      });
      const wrong = { publicKey: victim, privateKey: secretOf(type, 4) };
      expect(await failure(client.register(wrong))).to.include({ code: "ARGUMENT_INVALID" });
      expect(await client.record()).to.include({ state: "unregistered" });
    });

    it("names both types if the app is configured for another type", async () => {
      const other = await newUser({ keyType: undefined });
      const error = await failure(other.client.register(generateKeyPair()));
      expect(error).to.include({ code: "KEY_TYPE_MISMATCH" });
      expect((error as Error).message)
        .to.include(keyType.title)
        .and.include("Curve41417");
      if (type === "p256") return;
      const same = type === "x25519" ? "ed25519" : "x25519";
      const swapped = await newUser({ keyType: { x25519, ed25519 }[same] });
      const key = { publicKey: Uint8Array.from(publicKeyOf(same, 1)), privateKey: secretOf(same, 1) };
      // Half of all coordinates are also valid keys of the other type.
      expect(await failure(swapped.client.register(key)))
        .to.have.property("code")
        .that.matches(/^(?:CHALLENGE_MISMATCH|PUBLIC_KEY_.*)$/);
    });

    it("rejects registration by the partner", async () => {
      const { userID } = await newUser();
      const register = partner.registerDocument(userID, publicKeyOf(type, 5));
      expect(await failure(register)).to.include({ code: "POSSESSION_REQUIRED" });
    });
  });
