import { oneEndpoint } from "keyroot";

/** Replace these addresses of a local system with the addresses from your operator. */
export const config = {
  rpc: "http://127.0.0.1:8545",
  chainId: 31337,
  contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  merkleUrl: "http://127.0.0.1:8546",
  // Before you go live, choose a stronger source of the block: docs/verifying.md.
  trust: oneEndpoint(),
};

/** The URL from which the app gets its contacts. Replace it with the URL of your server. */
export const contactsUrl = "/contacts.json";

/** The URL at which your server creates the user and returns a refresh token. `server.mjs` shows how. */
export const sessionUrl = "http://127.0.0.1:8552/session";
