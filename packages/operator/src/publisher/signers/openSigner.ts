import { isAddress } from "ethers/address";
import { checkSourceUrl, RPC_LIMITS, rpcCaller } from "keyroot/internal/transport";
import { argumentInvalid } from "../../errors.ts";
import { openKeyFile, passphraseSourceOf } from "./keyFile.ts";
import { RemoteSigner } from "./remoteSigner.ts";
import type { Signer } from "./signer.ts";

/**
 * Opens the signer that environment variables select:
 *
 * - a key file: `KEYROOT_KEY_FILE` is the path of an encrypted key file, and its passphrase is in the file
 *   `KEYROOT_PASSPHRASE_FILE` or in the variable `KEYROOT_PASSPHRASE`; or
 * - a remote signer: `KEYROOT_SIGNER_URL` is its URL, and `KEYROOT_SIGNER_ADDRESS` is its account.
 * @param allowHttp allows unencrypted http to a remote signer on another machine. Default: KEYROOT_ALLOW_HTTP
 * @returns undefined if no signer is selected
 * @throws ArgumentError ARGUMENT_INVALID if both are selected, or a variable is missing; and the errors of
 *   `openKeyFile`
 * @example
 * ```ts
 * const signer = await openSigner(process.env);
 * ```
 */
export async function openSigner(
  environment: NodeJS.ProcessEnv,
  allowHttp = environment["KEYROOT_ALLOW_HTTP"] === "true",
): Promise<Signer | undefined> {
  const { KEYROOT_KEY_FILE: keyFile, KEYROOT_SIGNER_URL: url, KEYROOT_SIGNER_ADDRESS: address } = environment;
  if (keyFile !== undefined && url !== undefined)
    throw argumentInvalid("KEYROOT_KEY_FILE and KEYROOT_SIGNER_URL both select a signer. Set only one of them.");
  if (keyFile !== undefined) {
    if (keyFile === "")
      throw argumentInvalid("KEYROOT_KEY_FILE is empty. Set it to the path of a key file, or unset it.");
    return openKeyFile(keyFile, passphraseSourceOf(environment), {
      keyFile: "KEYROOT_KEY_FILE",
      passphraseFile: "KEYROOT_PASSPHRASE_FILE",
    });
  }
  if (url === undefined) return undefined;
  if (address === undefined || !isAddress(address))
    throw argumentInvalid(
      "KEYROOT_SIGNER_ADDRESS must be the address of the account that KEYROOT_SIGNER_URL signs for.",
    );
  const { maxBytes, timeoutMs } = RPC_LIMITS;
  checkSourceUrl("KEYROOT_SIGNER_URL", url, allowHttp);
  return new RemoteSigner(rpcCaller(url, { maxBytes, timeoutMs, allowHttp }), address);
}
