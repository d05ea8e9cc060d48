/** The start of docs/glossary.md: the project's words with their meanings. */
export const WORDS = `# Glossary

<!-- Written by scripts/generate/glossary.ts. Do not edit. -->

Each thing has one name. For example, the time between a key's registration and its publication is the _hold period_ everywhere:
\`KEYROOT_HOLD_PERIOD\`, \`holdPeriodMs\`, \`hold_ends_at\`.

## Words

| Word               | Meaning                                                                                                       |
| ------------------ | ------------------------------------------------------------------------------------------------------------- |
| access token       | JWT with which a caller authenticates each request, for about four hours                                      |
| anchor             | source of the block hash to which a verification refers                                                       |
| batch              | users who get one root in one transaction, and whose records are in one file                                  |
| bundle             | everything that proves a user's published key at a block, for verification without a network                  |
| checkpoint         | root of a beacon block that an app trusts, from which its light client starts                                 |
| conflicting key    | another key that was offered for a user who has one                                                           |
| estimate           | expected cost of publishing                                                                                   |
| hold period        | time between registration and publication of a key, in which user and partner can object                      |
| key id             | first 16 bytes of the SHA-256 of a public key                                                                 |
| key record         | JSON text with user id, public key and key id                                                                 |
| lease              | right of one replica to publish, which it must renew                                                          |
| light client       | code that verifies blocks with signatures of the chain's own validators, without a node                       |
| Merkle proof       | one record with the hashes that lead to the root, without the other records                                   |
| Merkle-tree file   | \`<root>.json\`: the records of a batch, and their tree                                                       |
| operator           | company that runs the service and owns the registry                                                           |
| partner            | company whose users have keys in the service                                                                  |
| pinned             | block hash that the caller trusts                                                                             |
| plan               | batches of a run of \`publish\`, kept until every key is verified                                             |
| registry           | the contract \`PublicKeyRegistry\`                                                                            |
| root               | hash of a Merkle tree, which the registry stores for each user                                                |
| server token       | refresh token for a partner's server                                                                          |
| shadow user        | the service's record of a partner's user, without identifying information                                     |
| storage proof      | proof of a contract's stored value under a block hash (EIP-1186)                                              |
| superseded user    | user in a file who already had a root, which remains                                                          |
| undecided key      | key that waits until the partner decides a conflict                                                           |
| user limit         | maximum number of a partner's users                                                                           |
| user refresh token | refresh token for one device of a user                                                                        |

[errors.md](errors.md) lists the error codes, [auditing.md](auditing.md#findings) the findings, [commands.md](commands.md) the commands.
`;
