import type { Region } from "keyroot/internal/identity";
import { ServiceError } from "../api/base/errors.ts";

export function userUnknown(): ServiceError {
  return new ServiceError(
    404,
    "USER_UNKNOWN",
    "You have no user with this id. Check the id, or create the user on the partner's server.",
  );
}

export function userIDTaken(): ServiceError {
  return new ServiceError(409, "USER_ID_TAKEN", "This user id is already in use. Choose another one.");
}

export function userInOtherRegion(region: Region): ServiceError {
  const message = `You have already created this user in the region ${region}, and a user's region cannot change. Use ${region}.`;
  return new ServiceError(409, "USER_ID_TAKEN", message);
}

export function userErased(): ServiceError {
  const message = "This user was erased, and its id cannot be used again. To create a user, choose another id.";
  return new ServiceError(409, "USER_ERASED", message);
}

export function userDeactivated(): ServiceError {
  const message = "The user is deactivated, so its tokens are rejected. Create another user.";
  return new ServiceError(403, "USER_DEACTIVATED", message);
}
