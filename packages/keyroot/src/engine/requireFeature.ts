import { EnvironmentError } from "../errors.ts";

/**
 * Returns a feature of the platform that cannot be replaced.
 * @param remedy the package that adds it, or another way
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED if the platform does not have it
 */
export function requireFeature<T>(name: string, feature: T | undefined, remedy: string): T {
  if (feature !== undefined) return feature;
  const message = `This platform has no ${name}. Add it: ${remedy}.`;
  throw new EnvironmentError("ENVIRONMENT_UNSUPPORTED", message, { expected: name });
}
