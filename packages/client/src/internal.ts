/** The entry `@keyroot/client/internal`, for the other packages of this repository. Apps must not use it. */
export { CLIENT_ERROR_CODES, type ClientErrorCode, SERVICE_CODES } from "./errorCodes.ts";
export {
  ArgumentError,
  type FieldError,
  type KeyInError,
  ServiceError,
  type ServiceErrorDetails,
  TransportError,
} from "./errors.ts";
export { checkClientOptions } from "./shared/options.ts";
