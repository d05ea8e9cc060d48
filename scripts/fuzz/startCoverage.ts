/** Measures coverage from the start of a program, which imports this file before the parsers. */
import { startCoverage } from "./coverage.ts";

startCoverage();
