/**
 * Writes all files that are generated from the API, the commands and the public names. It runs the generators in one
 * process, because several of them need the types of all public modules, which take seconds to read:
 *
 *     node scripts/generate/all.ts            writes the files
 *     node scripts/generate/all.ts --check    exits with 1 if a file is not up to date
 */
// The order matters, because each script reads files that the earlier scripts write.
await import("./openApi.ts");
await import("./clientTypes.ts");
await import("./apiSummary.ts");
await import("./keyTypeVectors.ts");
await import("./possessionVectors.ts");
await import("./commandReference.ts");
