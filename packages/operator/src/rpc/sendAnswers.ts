import type { NodeAnswer } from "./nodeAnswer.ts";

const POOL =
  "smartcontractkit/chainlink-evm pkg/client/errors.go; go-ethereum core/txpool/errors.go; NethermindEth/nethermind Nethermind.TxPool/AcceptTxResult.cs; hyperledger/besu TransactionInvalidReason.java; erigontech/erigon txnprovider/txpool/txpoolcfg.go; paradigmxyz/reth crates/transaction-pool/src/error.rs";

/** The answers to requests that send a transaction, in addition to `REQUEST_ANSWERS`. */
export const SEND_ANSWERS: readonly NodeAnswer[] = [
  {
    reaction: "known",
    message:
      /already known|known transaction|already imported|AlreadyImported|already exists|AlreadyKnown|ALREADY_EXISTS/i,
    source: `Geth, Besu, Anvil, Erigon, Nethermind (NethermindEth/nethermind#12153, #4148), Substrate: ${POOL}`,
  },
  {
    reaction: "known",
    means: "same nonce",
    message:
      /replacement transaction underpriced|ReplacementNotAllowed|could not replace existing tx|OwnNonceAlreadyUsed|another t(?:ransaction|x) (?:with|which has) (?:the )?same nonce|FeeTooLowToReplace/i,
    source: `Geth, Reth, Besu; Nethermind (NethermindEth/nethermind#10226); Erigon (erigontech/erigon#5214); Klaytn: ${POOL}`,
  },
  {
    reaction: "wait",
    message:
      /in-flight transaction limit|gapped-nonce tx from delegated|delegated accounts?|authority already reserved|account (?:is )?already reserved|address already reserved/i,
    remedy:
      "The sender is delegated to a contract (EIP-7702). Nodes then accept few pending transactions of it. To publish faster, use an account without a delegation.",
    source: "Geth (ethereum/go-ethereum#35739), Reth, Base (base/base#2347), Infura (verdikta/verdikta-arbiter#29).",
  },
  {
    reaction: "end",
    means: "no funds",
    message:
      /insufficient ?(?:funds|balance)|InsufficientFunds|enough (?:funds|balance|ether)|exceeds account balance|would cause overdraft|Insufficient balance/i,
    source: `Geth, Anvil, Hardhat, Nethermind (NethermindEth/nethermind#4829), Besu, Arbitrum: ${POOL}`,
  },
  {
    reaction: "end",
    means: "fee cap",
    message: /exceeds the configured cap|fee cap exceeded/i,
    remedy:
      "The node's operator limits what one transaction may cost. Lower --max-fee, publish fewer users per file, or use a node with a higher limit (Geth: --rpc.txfeecap, Besu: --rpc-tx-feecap).",
    source: `Geth, Erigon, Celo, Besu: ${POOL}`,
  },
  {
    reaction: "end",
    means: "oversized",
    message:
      /oversized data|transaction (?:is )?too (?:big|large)|max(?:imum)? tx size|size .*exceeds.*limit|RLP.*too (?:big|large)/i,
    remedy: "The transaction has more bytes than the node accepts. Publish fewer users per file.",
    source: `Geth: 128 KiB (core/txpool/legacypool: txMaxSize), OP-stack, zkSync: ${POOL}`,
  },
  {
    reaction: "wait",
    means: "fee too low",
    message:
      /tip cap|priority fee|minimum needed|gas price below|below (?:configured )?minimum|minimal gas price|price minimum|EffectivePriorityFeePerGas/i,
    remedy: "The node requires a higher tip for each unit of gas.",
    source: `Geth and Polygon ("transaction underpriced: gas tip cap …, minimum needed …"), Besu, Celo, Nethermind: ${POOL}`,
  },
  {
    reaction: "wait",
    means: "fee too low",
    message:
      /underpriced|FeeTooLow|FeePerGas|base ?fee|fee cap|fee per gas|gas ?price (?:is )?too low|max fee|unacceptable gas price/i,
    remedy: "The offered price per unit of gas is too low at the moment. To pay more, raise --max-fee.",
    source: `Geth, Nethermind (NethermindEth/nethermind#12153, #4319), Arbitrum, zkSync, Metis: ${POOL}`,
  },
  {
    reaction: "wait",
    message: /nonce|Pool\(Stale\)|already finalized|future transaction/i,
    source: `Geth, Nethermind (OldNonce, NonceGap), Besu, Arbitrum, Substrate, Harmony: ${POOL}`,
  },
  {
    reaction: "wait",
    message:
      /(?:tx)?pool is full|pool (?:full|overflow|limit)|queue full|too many transactions|transactions? (?:per|limit|count)|account(?:'s)? (?:limit|slots)|txpool|exceeds? (?:max|the max).{0,20}transactions/i,
    remedy:
      "The node's pool is full, or has too many transactions of this sender. The transaction is sent again later.",
    source: `Geth, Besu, Erigon, Arbitrum ("sequencer pending tx pool full"), OpenEthereum: ${POOL}`,
  },
  {
    reaction: "wait",
    message:
      /header not found|block not found|unknown block|node is (?:not synced|syncing)|still syncing|time(?:d)? ?-?out|deadline exceeded/i,
    source:
      "A node that is behind or overloaded checks the transaction against a block that it lacks (MetaMask/metamask-extension#7234).",
  },
  {
    reaction: "repeat",
    code: [-1, -32002, -32005, -32015, -32603],
    source:
      "EIP-1474: resource unavailable, limit exceeded, such as Infura's limit of requests per day; JSON-RPC 2.0, section 5.1: internal error; Hardhat's provider (-1).",
  },
];
