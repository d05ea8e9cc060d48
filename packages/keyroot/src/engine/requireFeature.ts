import { EnvironmentError } from "../errors.ts";

/**
 * Returns a feature of the platform for which the library has no replacement.
 * @param remedy the package or setting that adds the feature
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED if the platform does not have the feature
 */
export function requireFeature<T>(name: string, feature: T | undefined, remedy: string): T {
  if (feature !== undefined) return feature;
  const message = `This platform has no ${name}. Add ${remedy}.`;
  throw new EnvironmentError("ENVIRONMENT_UNSUPPORTED", message, { expected: name });
}
