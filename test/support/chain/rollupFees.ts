/** Contracts at the addresses of rollups' own contracts. They return the fees for a transaction's bytes. */
import type { RpcCall } from "keyroot/internal/transport";
import { runSolc } from "../../../scripts/generate/contractSources.ts";

/** Wei per byte of a transaction, and the operator fee's parts, of the OP-stack contract. */
export const OP_FEES = { weiPerByte: 10n ** 13n, weiPerGas: 3n, operatorConstant: 7n };
/** Gas per byte of calldata of the Arbitrum contract. */
export const ARBITRUM_GAS_PER_BYTE = 5;

const ADDRESSES = {
  GasPriceOracle: "0x420000000000000000000000000000000000000F",
  EarlyGasPriceOracle: "0x420000000000000000000000000000000000000F",
  NodeInterface: "0x00000000000000000000000000000000000000C8",
};

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

/// Before the upgrade Isthmus: without an operator fee.
contract EarlyGasPriceOracle {
    function getL1Fee(bytes memory transaction) external pure returns (uint256) {
        return (transaction.length + 68) * ${OP_FEES.weiPerByte};
    }
}

contract GasPriceOracle is EarlyGasPriceOracle {
    function getOperatorFee(uint256 gasUsed) external pure returns (uint256) {
        return gasUsed * ${OP_FEES.weiPerGas} + ${OP_FEES.operatorConstant};
    }
}

contract NodeInterface {
    function gasEstimateL1Component(address, bool, bytes calldata data)
        external
        payable
        returns (uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)
    {
        return (uint64(data.length * ${ARBITRUM_GAS_PER_BYTE}), block.basefee, 1 gwei);
    }
}
`;

/** Puts a rollup's contract on a chain. @param setCode the chain's method, such as hardhat_setCode */
export async function installFees(call: RpcCall, name: keyof typeof ADDRESSES, setCode: string): Promise<void> {
  const settings = { outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } } };
  const sources = { "fees.sol": { content: SOURCE } };
  const output = runSolc({ language: "Solidity", sources, settings }) as {
    contracts: { "fees.sol": Record<string, { evm: { deployedBytecode: { object: string } } }> };
  };
  const code = output.contracts["fees.sol"][name]?.evm.deployedBytecode.object;
  await call(setCode, [ADDRESSES[name], `0x${code}`]);
}

/** Removes the rollups' contracts. */
export async function removeFees(call: RpcCall, setCode: string): Promise<void> {
  for (const address of Object.values(ADDRESSES)) await call(setCode, [address, "0x"]);
}
