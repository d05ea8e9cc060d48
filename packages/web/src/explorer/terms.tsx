/** What the page is about, above everything that uses these terms. */
export function Terms() {
  return (
    <p class="terms">
      With a user’s <dfn>public key</dfn>, others encrypt messages that only this user can read. Its <dfn>key id</dfn>{" "}
      is a short name for it. The key is published in a file of many <dfn>records</dfn>, one line for each user. A{" "}
      <dfn>contract</dfn>, a program on a <dfn>blockchain</dfn>, keeps the file’s <dfn>root</dfn>: a fingerprint of all
      keys in it. An <dfn>endpoint</dfn> is a server that answers questions about the blockchain.
    </p>
  );
}
