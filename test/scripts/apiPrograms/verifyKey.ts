import { createVerifier, oneEndpoint, VerificationError } from "keyroot";
const verifier = createVerifier({
  rpc: "https://rpc.example",
  chainId: 1,
  contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  merkleUrl: "https://files.example",
  trust: oneEndpoint(),
});
try {
  const { publicKey } = await verifier.verify("user", { expectedPublicKey: new Uint8Array(105) });
  publicKey.slice();
} catch (error) {
  if (error instanceof VerificationError) error.code.trim();
}
