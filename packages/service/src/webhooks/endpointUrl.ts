import { isIP } from "node:net";
import { ServiceError } from "../api/base/errors.ts";
import { isPublicAddress } from "./addresses.ts";

const MAX_URL = 2048;

/**
 * Checks the URL of a partner's endpoint, and returns its normal form. An IP address is checked immediately, whereas a
 * host name is resolved and checked each time an event is sent.
 * @param allowPrivate whether plain http and private addresses are allowed
 * @throws ServiceError WEBHOOK_URL_REFUSED
 */
export function checkEndpointUrl(text: string, allowPrivate: boolean): string {
  if (!URL.canParse(text)) throw refused("it is not a URL");
  const { protocol, hostname, username, password, hash, href } = new URL(text);
  if (protocol !== "https:" && !(allowPrivate && protocol === "http:")) throw refused("it must begin with https://");
  if (username !== "" || password !== "") throw refused("it must not contain a user name or password");
  if (hash !== "" || text.includes("#")) throw refused("it must not contain a fragment");
  if (href.length > MAX_URL) throw refused(`it has more than ${MAX_URL} characters`);
  if (!allowPrivate && !isPublicHost(hostname)) throw refused("its host is not public");
  return href;
}

/** Whether the host in a URL may be public: a name with a dot, or a public IP address. */
export function isPublicHost(hostname: string): boolean {
  const address = addressIn(hostname);
  if (address !== undefined) return isPublicAddress(address);
  return /\.[^.]+\.?$/.test(hostname) && !/(?:^|\.)(?:localhost|local|internal|home\.arpa)\.?$/.test(hostname);
}

/** The IP address in a URL's host, without brackets. Undefined if the host is a name. */
function addressIn(hostname: string): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(address) === 0 ? undefined : address;
}

function refused(reason: string): ServiceError {
  const errors = [{ field: "url", detail: reason }];
  return new ServiceError(400, "WEBHOOK_URL_REFUSED", `The URL cannot be a webhook: ${reason}.`, { errors });
}
