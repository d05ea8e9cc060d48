import type { BuildOptions } from "./buildModules.ts";

/** The contents of a package's tarball besides package.json and LICENSE. Paths are relative to the repository. */
export interface PackageDescription {
  /** The folder that contains the package's package.json. */
  folder: string;
  /**
   * The files and folders to copy. The keys are paths in the tarball, and the values are paths in the project. Relative
   * links in Markdown become absolute.
   */
  files?: Readonly<Record<string, string>>;
  /**
   * The build options for the package's TypeScript. Without them, the tarball contains the files that package.json
   * names in `files`.
   */
  build?: BuildOptions;
  /** The codes of publint's messages that are ignored. State the reason beside each code. */
  acceptedMessages?: readonly string[];
}

/** All packages that people install. The keys are the last parts of the packages' names. */
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
      target: "es2020",
      inject: { "Object.hasOwn": ["src/engine/language.ts", "hasOwn"] },
      // These modules are loaded on demand. As entries, they keep the names of their exports, so the build needs no
      // extra objects that map these names.
      entries: {
        milderAdvice: "src/verifier/milderAdvice.ts",
        checksum: "src/ethereum/checksum.ts",
        fetchCodeHash: "src/ethereum/fetchCodeHash.ts",
        readRootAtBlock: "src/verifier/readRootAtBlock.ts",
        verifyMerkleFile: "src/merkle/verifyMerkleFile.ts",
        lightClientSource: "src/trust/lightClient/source.ts",
      },
      // Service workers cannot load modules on demand.
      standalone: ["serviceWorker"],
      // Each chunk also contains the imports of its sources, unless an earlier chunk contains them. An app's bundler
      // splits code by file. Therefore code that is loaded on demand must not share a file with code that every
      // verification needs.
      chunks: {
        core: /src\/(?:createVerifier|store\/store|transport\/(?!fetchAccountFile|batches)|verifier\/verifyKey|trust\/(?:oneEndpoint|endpoints|ownNode|pinnedBlock))\b/,
        values: /src\/(?:identity\/(?:serializeKeyRecord|userIDBytes)|ethereum\/rpcData)\b/,
        sharedSearch: /src\/trust\/sharedSearch\b/,
        accountSlot: /src\/verifier\/accountSlot\b/,
        anyFile: /src\/merkle\/verifyMerkleFile\b/,
        documents: /src\/input\/(?:document|shapeChecker)\b/,
        records: /src\/(?:identity\/(?:keyRecord|deriveUserID|region)|merkle)\b/,
        curves: /@noble\/curves\/(?:utils|abstract\/(?!bls|tower))\b/,
        ed25519: /@noble\/curves\/ed25519\b/,
        keyTypes: /src\/identity\/keyTypes\/(?!curve41417|keyType\b|loadKeyType|rows)/,
        group: /src\/identity\/(?:possession|newPublicKey|keyTypes\/curve41417Group)\b/,
        keccak256: /src\/ethereum\/(?:keccak|fetchCodeHash|checksum)\b/,
        twoRoots: /src\/verifier\/twoRootsByCall\b/,
        evidence: /src\/(?:ethereum|trust\/(?:quorum|agreedBlock)|registry\/slot|verifier\/shareEqualCalls)/,
        lists: /src\/(?:engine\/forEachAtOnce|store\/access|verifier\/cache|transport\/batches)\b/,
        networks: /src\/trust\/lightClient\/(?:networks|lightClient)\b/,
        lightClientProtocol: /src\/trust\/lightClient\/(?:source|follow)\b/,
        blockProof: /src\/trust\/lightClient\/blockProof\b/,
      },
    },
  },
  client: {
    folder: "packages/client",
    files: { "README.md": "packages/client/README.md" },
    build: { platform: "neutral", target: "es2020" },
  },
  contracts: {
    folder: "contracts",
    // `deployments` will get a file for each chain with a deployment. There is no deployment yet.
    acceptedMessages: ["EXPORTS_GLOB_NO_MATCHED_FILES"],
  },
  operator: {
    folder: "packages/operator",
    files: {
      "README.md": "packages/operator/README.md",
      "site/explorer": "packages/operator/site/explorer",
    },
    build: {
      platform: "node",
      target: "node22.13",
      // Modules find workers and migrations relative to their own paths. A command loads only the necessary modules.
      unbundle: true,
      entries: { "audit/fileWorker": "src/audit/fileWorker.ts" },
    },
  },
  service: {
    folder: "packages/service",
    files: {
      "README.md": "packages/service/README.md",
      "dist/api/database/migrations": "packages/service/src/api/database/migrations",
      "site/dashboard": "packages/service/site/dashboard",
      "site/reference": "packages/service/site/reference",
      monitoring: "packages/service/monitoring",
    },
    build: {
      platform: "node",
      target: "node22.13",
      unbundle: true,
      entries: { "keys/curveWorker": "src/keys/curveWorker.ts" },
    },
  },
};
