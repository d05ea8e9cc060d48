import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";

/** Deploys the registry. Parameter `initialOwner`: the account that may add roots (default: the deploying account). */
export default buildModule("PublicKeyRegistry", (m) => {
  const initialOwner = m.getParameter("initialOwner", m.getAccount(0));
  const publicKeyRegistry = m.contract("PublicKeyRegistry", [initialOwner]);
  return { publicKeyRegistry };
});
