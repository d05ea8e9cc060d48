export type { ExplorerAttack, ExplorerAttacks, ExplorerConfig } from "./config.ts";
export { type ExplorerServer, openExplorer, type OpenedExplorer, serveExplorer } from "./serveExplorer.ts";
export { type ExplorerFiles, makeExplorer } from "./makeExplorer.ts";
