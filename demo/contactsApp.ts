/**
 * The app of a user's contact, in a separate process that calls only the addresses in its requests. It reads the
 * requests from standard input, with one JSON object per line. It verifies the keys, and writes the results in the same
 * order.
 */
import { createInterface } from "node:readline";
import { createVerifier, KeyrootError, type VerifierOptions } from "keyroot";
import type { KeyTypeName } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { accounts } from "keyroot/account";
import { lightClient } from "keyroot/light-client";

export interface VerifyRequest extends Pick<VerifierOptions, "chainId" | "contract" | "merkleUrl"> {
  keyType: KeyTypeName;
  rpc: string;
  beaconUrl: string;
  userID: string;
  /** The key that the server sent to the app, in base64. */
  expectedPublicKey: string;
  /** True if all user ids of the registry are accounts. */
  accounts?: boolean;
}

/** The verifier's result: the root, or the error's code and message. */
export type VerifyResponse = { root: string } | { code: string; message: string };

/** The root of a beacon block that the app trusts. All simulated beacon chains have the same root. */
const CHECKPOINT = "0x054848ffc5ddd0fe6778ff79eb267a4a387e69bda0675fcc4b626ae7e44c309a";
/** The light client's state for each beacon endpoint. Each attack begins with an empty store. */
const stores = new Map<string, Map<string, string>>();

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await verify(JSON.parse(line) as VerifyRequest))}\n`);
}

async function verify(request: VerifyRequest): Promise<VerifyResponse> {
  const { userID, expectedPublicKey, beaconUrl, accounts: hasAccounts = false, ...options } = request;
  try {
    const store = stores.get(beaconUrl) ?? new Map<string, string>();
    stores.set(beaconUrl, store);
    const trust = lightClient({ urls: [beaconUrl], checkpoint: CHECKPOINT, store });
    const place = { ...options, keyType: await loadKeyType(options.keyType), trust };
    const verifier = createVerifier({ ...place, ...(hasAccounts && { accounts: accounts() }) });
    const { root } = await verifier.verify(userID, { expectedPublicKey });
    return { root };
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return { code: error.code, message: error.message };
  }
}
