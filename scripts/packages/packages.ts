import type { BuildOptions } from "./buildModules.ts";

/** What a package's tarball contains next to package.json and LICENSE. All paths are relative to the project's folder. */
export interface PackageDescription {
  /** Folder of its package.json. */
  folder: string;
  /** Files and folders to copy: path in the tarball -> path in the project. Relative links of Markdown become absolute. */
  files?: Readonly<Record<string, string>>;
  /** How its TypeScript is built. Without it, the tarball contains the folder's files that package.json names in `files`. */
  build?: BuildOptions;
  /** Codes of publint's messages that do not matter here. Give the reason next to each. */
  acceptedMessages?: readonly string[];
}

/** All packages that people install, by the last part of their names. */
export const PACKAGES: Readonly<Record<string, PackageDescription>> = {
  keyroot: {
    folder: "packages/keyroot",
    files: {
      "README.md": "packages/keyroot/README.md",
      "docs/errors.md": "docs/errors.md",
      schemas: "packages/keyroot/schemas",
    },
    build: {
      platform: "neutral",
      target: "es2022",
      // An app's bundler splits code by file. So what is loaded on demand (Keccak-256, stronger evidence) must not share a
      // file with what every verification needs. The first chunks also take the modules that they have in common with others.
      chunks: {
        core: /src\/(?:errors|bytes|identity|input|merkle|transport|ethereum\/codeHash|verifier\/(?:options|verdict|sources|verifyPublicKey))\b/,
        service: /src\/client\/[^/]+$/,
        keccak: /@noble\/hashes\/sha3\b/,
        evidence: /src\/ethereum\b/,
      },
    },
  },
};
