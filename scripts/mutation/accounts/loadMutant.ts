/** Loads a mutant instead of its module in a run of tests. The variable MUTANT has the module's URL and its source as JSON. */
import { registerHooks } from "node:module";

const { url, source } = JSON.parse(process.env["MUTANT"] ?? "{}") as { url?: string; source?: string };

registerHooks({
  load(requested, context, next) {
    if (source === undefined || requested.split("?", 1)[0] !== url) return next(requested, context);
    return { format: "module-typescript", source, shortCircuit: true };
  },
});
