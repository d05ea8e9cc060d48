import { oneEndpoint } from "keyroot";
import { curve41417 } from "keyroot/key-types";

/** The type of your users' keys, such as x25519: docs/key-types.md. */
export const keyType = curve41417;

/** Replace these addresses of a local system with the addresses from your operator. */
export const verifierOptions = {
  rpc: "http://127.0.0.1:8545",
  chainId: 31337,
  contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  merkleUrl: "http://127.0.0.1:8546",
  // Before you go live, choose a stronger source of the block: docs/verifying.md.
  trust: oneEndpoint(),
  keyType,
  // Without a response for 5 seconds, the phone is offline, and the app shows what it verified before.
  limits: { timeoutMs: 5000 },
};

/** The URL of server.mjs. Replace this URL with the URL of your server. */
export const serverUrl = "http://127.0.0.1:8552";
