import { isAddress } from "ethers";
import { ArgumentError } from "keyroot/errors";
import { DEFAULT_LIMITS } from "keyroot/transport";
import { checkUrl, rpcCaller } from "keyroot/transport";
import { openKeyFile } from "./keyFile.ts";
import { RemoteSigner } from "./remoteSigner.ts";
import type { Signer } from "./signer.ts";

/**
 * Opens the signer that the environment names:
 *
 * - `KEYROOT_KEY_FILE`, an encrypted key file, and its passphrase in the file `KEYROOT_PASSPHRASE_FILE` or in the variable
 *   `KEYROOT_PASSPHRASE`; or
 * - `KEYROOT_SIGNER_URL`, a remote signer, and `KEYROOT_SIGNER_ADDRESS`, the account that it signs for.
 * @returns undefined where it names none
 * @throws ArgumentError ARGUMENT_INVALID where it names both, or one by halves; and as `openKeyFile`
 */
export async function openSigner(environment: NodeJS.ProcessEnv): Promise<Signer | undefined> {
  const { KEYROOT_KEY_FILE: keyFile, KEYROOT_PASSPHRASE_FILE: passphraseFile } = environment;
  const { KEYROOT_SIGNER_URL: url, KEYROOT_SIGNER_ADDRESS: address } = environment;
  if (keyFile !== undefined && url !== undefined) {
    const message = "KEYROOT_KEY_FILE and KEYROOT_SIGNER_URL both name a signer: set one of them.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  if (keyFile !== undefined) {
    const source =
      passphraseFile === undefined ? { passphrase: environment["KEYROOT_PASSPHRASE"] ?? "" } : { file: passphraseFile };
    return openKeyFile(keyFile, source);
  }
  if (url === undefined) return undefined;
  if (address === undefined || !isAddress(address)) {
    const message = "KEYROOT_SIGNER_ADDRESS must be the address of the account that KEYROOT_SIGNER_URL signs for.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  const { rpcBytes: maxBytes, timeoutMs } = DEFAULT_LIMITS;
  return new RemoteSigner(rpcCaller(checkUrl("KEYROOT_SIGNER_URL", url), { maxBytes, timeoutMs }), address);
}
