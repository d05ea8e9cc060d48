import type { BuildOptions } from "./buildModules.ts";

/** What a package's tarball contains beside its package.json, LICENSE and built modules. */
export interface PackageDescription {
  /** Folder of its package.json. All paths are relative to the project's folder. */
  folder: string;
  /** Files and folders to copy: path in the tarball -> path in the project. */
  files: Readonly<Record<string, string>>;
  /** How its TypeScript is built. Without it, nothing is built and the manifest's paths stay as they are. */
  build?: BuildOptions;
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
      // An app's bundler splits by file. What is loaded on demand (Keccak-256, evidence beyond one endpoint's word) stays
      // apart from what every verification needs. Earlier chunks take the modules that later ones share with them.
      chunks: {
        core: /src\/(?:errors|bytes|identity|input|merkle|transport|ethereum\/codeHash|verifier\/(?:options|verdict))\b/,
        service: /src\/client\/[^/]+$/,
        keccak: /@noble\/hashes\/sha3\b/,
        evidence: /src\/ethereum\b/,
      },
    },
  },
};
