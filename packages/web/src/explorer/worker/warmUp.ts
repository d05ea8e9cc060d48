import { type KeyRecord } from "keyroot";
import { makeMerkleFile, parseMerkleFile, serializeMerkleFile } from "keyroot/merkle";

/** The characters of a user id (zBase32). */
const ALPHABET = "ybndrfg8ejkmcpqxot1uwisza345h769";
/** Number of records after which JavaScript engines compile the code. Verifying 128 records takes a few ms. */
const RECORDS = 128;

/**
 * Verifies a small file while the page waits for the endpoint. The browser has then already compiled the verifier when
 * the real file arrives.
 */
export function warmUp(): void {
  const records = Array.from({ length: RECORDS }, (_, i): KeyRecord => {
    const userID = `${ALPHABET[i >> 5] ?? ""}${ALPHABET[i & 31] ?? ""}`.padEnd(32, "y");
    return { userID, pubKey: "A".repeat(140), keyID: `${"A".repeat(22)}==` };
  });
  const file = makeMerkleFile(records);
  parseMerkleFile(new TextEncoder().encode([...serializeMerkleFile(file)].join("")), file.tree.root);
}
