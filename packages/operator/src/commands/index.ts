export { type Command } from "./defineCommand.ts";
export { EXIT, exitCodeOfSignal } from "./exitCodes.ts";
export { type Host, type Outcome } from "./host.ts";
export { messageOf, outputIsLost, print, printError, printOutcome, shellCommand, style } from "./output.ts";
export { type PublishLine, type PublishReport } from "./publishResult.ts";
export { plural } from "../plural.ts";
export { type StopSignal, untilStopped } from "./stopSignals.ts";
export { commandsWith, loadServiceCommands } from "./commandTable.ts";
