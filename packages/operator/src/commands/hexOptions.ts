/** Functions that check options with hexadecimal values. */
import { argumentInvalid } from "../errors.ts";
import { ADDRESS, hasValidChecksum, LOWERCASE_HASH } from "keyroot/internal/ethereum";
import { describeValue } from "keyroot/internal/input";

/** Returns the address if it is valid. @throws ArgumentError ARGUMENT_INVALID */
export function checkAddress(option: string, address: string): string {
  if (ADDRESS.test(address) && hasValidChecksum(address)) return address;
  const message = `${option} must be 0x and 40 hex digits, in one case or with a valid checksum, not ${describeValue(address)}.`;
  throw argumentInvalid(message);
}

/** Checks the value of a hash option, if the option is given. @throws ArgumentError ARGUMENT_INVALID */
export function checkHash(option: string, hash: string | undefined): void {
  if (hash === undefined || LOWERCASE_HASH.test(hash)) return;
  throw argumentInvalid(`${option} must be 0x and 64 lowercase hex digits, not ${describeValue(hash)}.`);
}
