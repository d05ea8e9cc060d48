import { EnvironmentError } from "../errors.ts";

/**
 * Returns a feature of the platform that the library cannot replace.
 * @param remedy the sentence that tells the reader how to add the feature
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED if the platform does not have the feature
 */
export function requireFeature<T>(name: string, feature: T | undefined, remedy: string): T {
  if (feature !== undefined) return feature;
  const message = `This platform has no ${name}. Add it: ${remedy}.`;
  throw new EnvironmentError("ENVIRONMENT_UNSUPPORTED", message, { expected: name });
}
