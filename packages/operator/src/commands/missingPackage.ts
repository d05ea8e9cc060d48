import { ArgumentError } from "../errors.ts";

/**
 * Replaces the error of a package whose native code is not installed, which only says that npm has a bug. All packages
 * of NAPI-RS, such as the chain of Hardhat, throw this error. Other errors are returned unchanged.
 */
export function explainMissingPackage(error: unknown): unknown {
  if (!(error instanceof Error && error.message.startsWith("Cannot find native binding"))) return error;
  const platform = `${process.platform} on ${process.arch}`;
  const message = `A package with native code for ${platform} is not installed. npm leaves it out if it runs with --omit=optional or --no-optional, with an old version of Node, or on another platform. Delete node_modules, and run 'npm install' here without these options.`;
  return new ArgumentError("PACKAGE_MISSING", message, { expected: platform, cause: error });
}
