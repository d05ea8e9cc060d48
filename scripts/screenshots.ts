/**
 * Takes pictures of all pages and states of the explorer and dashboard, in light and dark, at 390 and 1280 pixels:
 *
 *     npm run screenshots [folder] [states, such as "a batch,no page"]
 *
 * States can be chosen only for the explorer. Without a choice, the script takes pictures of all states, and the
 * dashboard's test takes its pictures as well. The default folder is screenshots, which git ignores.
 */
import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { EXPLORER_STATES, openState } from "../test/support/browser/explorerStates.ts";
import { takePicture } from "../test/support/browser/pagePicture.ts";
import { VIEWS } from "../test/support/browser/pageQuality.ts";
import { ExplorerWorld } from "../test/support/browser/explorerWorld.ts";
import { sampleRecords } from "../test/support/samples.ts";

const [, , folder = "screenshots", states] = process.argv;
/** The number of users in a full batch. */
const USERS = 700;

await mkdir(folder, { recursive: true });
const world = new ExplorerWorld(sampleRecords(USERS));
await world.start();
try {
  const url = await world.serve();
  for (const [name, state] of Object.entries(EXPLORER_STATES)) {
    if (states !== undefined && !states.split(",").includes(name)) continue;
    for (const view of VIEWS) {
      await using opened = await openState(world, url, state, view);
      const file = `${name.replaceAll(/[^a-z]+/g, "-")}-${view.viewport.width}-${view.colorScheme}.png`;
      await takePicture(opened.page, { path: join(folder, file) });
      process.stdout.write(`${join(folder, file)}\n`);
    }
  }
} finally {
  await world.stop();
}

if (states === undefined) {
  // The dashboard's states follow each other, so its test takes the pictures.
  const env = { ...process.env, SCREENSHOTS: resolve(folder) };
  const args = ["hardhat", "test", "test/web/dashboardQuality.test.ts"];
  process.exitCode = spawnSync("npx", args, { env, stdio: "inherit" }).status ?? 1;
}
