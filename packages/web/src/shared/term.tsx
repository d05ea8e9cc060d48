import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";

/** Terms that readers may not know. The definitions are from docs/system.md. */
const DEFINITIONS = {
  chain: "A public record that many computers keep. Nobody can change what is stored on it.",
  block: "A part of the chain: the transactions of a few seconds.",
  transaction: "A paid entry on the chain. Here, it stores the root of a batch.",
  gas: "The chain’s unit of work, which a transaction pays for.",
  contract: "A program on the chain. It stores one root for each user, and nobody can change a stored root.",
  endpoint: "A server that answers questions about the chain. It can give a false answer.",
  batch: "Users who get one root in one transaction. Their records are in one file.",
  record: "One line of a file: a user’s id, and the user’s key with its id.",
  root: "One hash over all records of a file: a fingerprint of the whole file.",
  hash: "A short fingerprint of data. Other data has another hash.",
  leaf: "The hash of one record, at the lower end of the tree.",
  sibling: "The other hash of a pair. The hash above is computed from both.",
  "Merkle tree": "It combines the hashes of all records in pairs, until one is left: the root.",
  "Merkle-tree file": "The records of a batch and the hashes that lead from each record to the root.",
  "public key": "Others use it to encrypt messages that only this user can read.",
  "key id": "A short form of a public key: the first 16 bytes of its SHA-256.",
  "hold period": "The time after a registration in which user and company can object to a key.",
  "conflicting key": "Another key that was offered for a user who has one.",
  evidence: "What the contract’s answer rests on: the source of the block, and a proof under this block.",
  "storage proof": "Hashes that lead from a block to the contract’s stored data.",
  proof: "One record with the hashes that lead to the root, without the other records.",
  bundle: "A file that proves a user’s key at one block. It is verified without a network.",
  "safety code": "60 digits over two users’ keys. Both users see the same ones if both use the right keys.",
  passkey: "It replaces a password: your device proves that it is you, with fingerprint, face or PIN.",
  "business identifier": "The id of your company, which your servers send as biz_id. It is not a secret.",
  "server token": "A secret of your server, with which it signs in. It never expires.",
  "access token": "What a server gets for its token. It authenticates requests for four hours.",
  "refresh token": "The secret with which a user’s app signs in, one for each device.",
  webhook: "A request that this service sends to your server after an event.",
  "webhook endpoint": "The URL of your server that receives events.",
  event: "A change that your server is told about, such as a published key.",
  delivery:
    "One event on its way to this URL. It is repeated for three days, until your server answers with a 2xx status.",
  "audit log": "Each change in this dashboard and through the API, with its time and author. It cannot be changed.",
} as const;

export type TermName = keyof typeof DEFINITIONS;

/**
 * A term with a definition that opens on demand. Each page explains a term once, where it first appears.
 * @param props `children` is the displayed text if it differs from the term, such as its plural
 */
export function Term({ of, children = of }: { of: TermName; children?: ComponentChildren }) {
  const id = useId();
  // While the definition is closed, it must not be part of the surrounding heading or label.
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <dfn>
        <button type="button" class="term-button" popovertarget={id}>
          {children}
        </button>
      </dfn>
      <span
        id={id}
        popover="auto"
        role="note"
        class="term-text"
        onBeforeToggle={({ newState }) => {
          setOpen(newState === "open");
        }}
      >
        {isOpen && DEFINITIONS[of]}
      </span>
    </>
  );
}
