/**
 * The key types, one per row. The checks of each type are in a file of its own. `name` is used in configuration, and
 * `title` in texts for readers. `length` is the size of a public key in bytes. `possession` shows how a user proves at
 * registration that the key is theirs: with a shared secret, or with a signature of at most `signatureBytes`. For keys
 * that cannot prove anything, it is `partner`, because the partner authorizes them.
 */
export const ROWS = {
  curve41417: { name: "curve41417", title: "Curve41417", length: 105, possession: "shared secret" },
  x25519: { name: "x25519", title: "X25519", length: 32, possession: "shared secret" },
  ed25519: { name: "ed25519", title: "Ed25519", length: 32, possession: "signature", signatureBytes: 64 },
  p256: { name: "p256", title: "P-256", length: 65, possession: "signature", signatureBytes: 72 },
  document: { name: "document", title: "document", length: 32, possession: "partner" },
} as const satisfies Record<string, Row>;

interface CommonRow {
  name: string;
  title: string;
  length: number;
}

type Row = CommonRow &
  ({ possession: "signature"; signatureBytes: number } | { possession: "shared secret" | "partner" });

/** The name of a key type in configuration, such as `--key-type x25519`. */
export type KeyTypeName = keyof typeof ROWS;

/** The names of all key types. */
export const KEY_TYPE_NAMES = Object.keys(ROWS) as readonly KeyTypeName[];

/** Returns the titles of the types whose keys have a length, or undefined if there are none. */
export function titlesOf(length: number): string | undefined {
  const titles = Object.entries(ROWS).flatMap(([, row]) => (row.length === length ? [row.title] : []));
  const last = titles.pop();
  return titles.length === 0 ? last : `${titles.join(", ")} or ${last}`;
}
