import { build } from "esbuild";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { workerdConfig } from "./frameworkFiles.ts";

/** A worker that runs in workerd, the runtime of Cloudflare Workers. */
export interface RunningWorker {
  url: string;
  close: () => Promise<void>;
}

/**
 * Bundles `main.js` of a folder as wrangler does, and starts it as a worker.
 * @param workerd the program
 * @param input the text of the worker's binding `INPUT`
 */
export async function startWorker(workerd: string, folder: string, date: string, input = ""): Promise<RunningWorker> {
  await build({
    ...{ entryPoints: [join(folder, "main.js")], outfile: join(folder, "worker.js"), bundle: true, format: "esm" },
    ...{ conditions: ["workerd", "worker", "browser"], logLevel: "silent" },
  });
  await writeFile(join(folder, "config.capnp"), workerdConfig(date, input));
  const args = ["serve", "config.capnp", "--control-fd=1"];
  const child = spawn(workerd, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { port } = JSON.parse(line) as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      const exited = once(child, "exit");
      child.kill();
      await exited;
    },
  };
}
